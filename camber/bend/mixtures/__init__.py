"""Gaussian mixtures over the features of hypotheses, whose posteriors are features themselves (nguyen2007).

mixture = fit_mixture(points, 1024).mixture                              # em: by maximum likelihood
mixture = perceptron_kernels(points, offsets, scores, oracle)            # perceptron: first choices and oracles
mixture.posteriors(points, bandwidth=0.25, owners=sentences).sparse      # posteriors: the greatest, in sparse rows
"""
