"""Glossaries: tables (CSV, TSV, exports of other engines) and TBX."""
