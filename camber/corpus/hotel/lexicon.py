"""The words of the hotel: nouns with gender and number, adjectives, names, places (syntax: see `engine`)."""

LEXICON = """
# ---------------------------------------------------------------- people
[first.m]
Andrés = Andrés
Bruno = Bruno
Carlos = Carlos
Diego = Diego
Emilio = Emilio
Fermín = Fermín
Gonzalo = Gonzalo
Héctor = Héctor
Ignacio = Ignacio
Javier = Javier
Lorenzo = Lorenzo
Mateo = Mateo
Nicolás = Nicolás
Óscar = Óscar
Pablo = Pablo
Rubén = Rubén
Sergio = Sergio
Tomás = Tomás
[first.f]
Alicia = Alicia
Beatriz = Beatriz
Clara = Clara
Dolores = Dolores
Elena = Elena
Fátima = Fátima
Gloria = Gloria
Irene = Irene
Julia = Julia
Lucía = Lucía
Marta = Marta
Nuria = Nuria
Olga = Olga
Pilar = Pilar
Raquel = Raquel
Silvia = Silvia
Teresa = Teresa
Violeta = Violeta
[surname]
Aguirre = Aguirre
Balaguer = Balaguer
Campos = Campos
Domínguez = Domínguez
Escudero = Escudero
Ferrer = Ferrer
Galindo = Galindo
Herrero = Herrero
Ibáñez = Ibáñez
Jurado = Jurado
Lozano = Lozano
Molina = Molina
Navarro = Navarro
Olmedo = Olmedo
Pastor = Pastor
Quiroga = Quiroga
Robles = Robles
Salgado = Salgado
Tejada = Tejada
Urrutia = Urrutia
Valverde = Valverde
Zamora = Zamora
Becker = Becker
Collins = Collins
Fontaine = Fontaine
Harper = Harper
Moretti = Moretti
Novak = Novak
[guest]
2* {mister} = {mister}
3* {fullname} = {fullname}
[fullname]
{first.m} {surname} = {first.m} {surname} ; m
{first.f} {surname} = {first.f} {surname} ; f
# spoken of
[mister]
el señor {surname} = Mr. {surname} ; m
la señora {surname} = Mrs. {surname} ; f
# spoken to
[sir]
5* señor = sir ; m
5* señora = madam ; f
2* señor {surname} = Mr. {surname} ; m
2* señora {surname} = Mrs. {surname} ; f
[kin]
mi marido = my husband ; m
mi mujer = my wife ; f
mi hija = my daughter ; f
mi hijo = my son ; m
mi madre = my mother ; f
mi padre = my father ; m
mi hermana = my sister ; f
mi hermano = my brother ; m
mi jefe = my boss ; m
mi jefa = my boss ; f
mi compañero = my colleague ; m
mi compañera = my colleague ; f
un amigo = a friend ; m
una amiga = a friend ; f
mis padres = my parents ; mp
mis hijos = my children ; mp
mis hijas = my daughters ; fp
mis amigos = my friends ; mp
unos clientes = some clients ; mp
[someone]
3* {kin} = {kin}
2* {fullname} = {fullname}
3* {mister} = {mister}
[waiter]
el camarero = the waiter ; m
la camarera = the waitress ; f
[staff]
el recepcionista = the receptionist ; m
la recepcionista = the receptionist ; f
el director = the manager ; m
0.5* el director = the director ; m
la directora = the manager ; f
el camarero = the waiter ; m
la camarera = the waitress ; f
el conserje = the porter ; m
0.5* el conserje = the concierge ; m
la gobernanta = the housekeeper ; f
el cocinero = the cook ; m
el vigilante = the security guard ; m

# ---------------------------------------------------------------- towns and places
[town]
Almería = Almería
Ávila = Ávila
Bilbao = Bilbao
Burgos = Burgos
Cádiz = Cádiz
Córdoba = Cordoba
Cuenca = Cuenca
Gijón = Gijón
Granada = Granada
Huesca = Huesca
León = León
Lisboa = Lisbon
Londres = London
Málaga = Malaga
Mérida = Mérida
Nápoles = Naples
París = Paris
Ronda = Ronda
Salamanca = Salamanca
Segovia = Segovia
Sevilla = Seville
Soria = Soria
Teruel = Teruel
Toledo = Toledo
Úbeda = Úbeda
Valencia = Valencia
Vigo = Vigo
Zaragoza = Zaragoza
# places in town: with opening hours, without, and those that a town has one of
[shop]
farmacia = pharmacy ; f
0.5* farmacia = chemist's ; f
oficina de correos = post office ; f
oficina de turismo = tourist office ; f
librería = bookshop ; f
panadería = bakery ; f
biblioteca = library ; f
iglesia = church ; f
galería de arte = art gallery ; f
banco = bank ; m
supermercado = supermarket ; m
mercado = market ; m
museo = museum ; m
teatro = theatre ; m
estanco = tobacconist's ; m
centro comercial = shopping centre ; m
[stop]
estación de tren = railway station ; f
estación de autobuses = bus station ; f
parada de autobús = bus stop ; f
parada de taxis = taxi rank ; f
boca de metro = underground entrance ; f
playa = beach ; f
cajero automático = cash machine ; m
parque = park ; m
hospital = hospital ; m
aparcamiento público = public car park ; m
[sight]
catedral = cathedral ; f
plaza mayor = main square ; f
ciudad vieja = old town ; f
universidad = university ; f
embajada = embassy ; f
puerto = harbour ; m
aeropuerto = airport ; m
castillo = castle ; m
ayuntamiento = town hall ; m
acuario = aquarium ; m
jardín botánico = botanical garden ; m
palacio de congresos = conference centre ; m
puente romano = Roman bridge ; m
[hub]
3* aeropuerto = airport ; m
2* estación de tren = railway station ; f
1* estación de autobuses = bus station ; f
1* puerto = harbour ; m
1* embajada = embassy ; f
1* universidad = university ; f
1* palacio de congresos = conference centre ; m
[place]
3* {shop} = {shop}
2* {stop} = {stop}
[theplace]
5* <el:place> {place} = the {place}
3* <el:sight> {sight} = the {sight}
[goodplace]
un buen restaurante = a good restaurant
un restaurante vegetariano = a vegetarian restaurant
un restaurante italiano barato = a cheap Italian restaurant
un bar con música en vivo = a bar with live music
una cafetería tranquila = a quiet café
una tienda de recuerdos = a souvenir shop
una peluquería = a hairdresser's
un dentista que hable inglés = a dentist who speaks English
# inside the hotel
[venue]
cafetería = café ; f
comedor = dining room ; m
restaurante = restaurant ; m
bar = bar ; m
jardín = garden ; m
salón = lounge ; m
[indoors]
lavandería = laundry ; f
sauna = sauna ; f
biblioteca = library ; f
gimnasio = gym ; m
centro de negocios = business centre ; m
[service]
4* {indoors} = {indoors}
1* piscina = swimming pool ; f
0.5* piscina = pool ; f
1* cafetería = café ; f
1* restaurante = restaurant ; m
1* bar = bar ; m
[facility]
5* {venue} = {venue}
4* {indoors} = {indoors}
1* piscina = swimming pool ; f
0.5* piscina = pool ; f
1* terraza = terrace ; f
1* sala de reuniones = meeting room ; f
1* aparcamiento = car park ; m
1* vestíbulo = lobby ; m
1* ascensor = lift ; m
[inhotel]
5* {invenue} = {invenue}
4* en <el:indoors> {indoors} = in the {indoors}
1* en la piscina = by the swimming pool
1* en el aparcamiento = in the car park
1* en el ascensor = in the lift
1* en el vestíbulo = in the lobby
1* en recepción = at reception
[invenue]
5* en <el:venue> {venue} = in the {venue}
1* en la terraza = on the terrace
[meet]
6* {invenue} = {invenue}
2* en el vestíbulo = in the lobby
1* en la sala de reuniones = in the meeting room
2* en recepción = at reception
[floor]
la planta baja = the ground floor ; f
el primer piso = the first floor ; m
la primera planta = the first floor ; f
el segundo piso = the second floor ; m
la segunda planta = the second floor ; f
el tercer piso = the third floor ; m
la tercera planta = the third floor ; f
el cuarto piso = the fourth floor ; m
el quinto piso = the fifth floor ; m
el último piso = the top floor ; m
[where]
al lado de <el:facility> {facility} = next to the {facility}
0.5* al lado de <el:facility> {facility} = beside the {facility}
enfrente de <el:facility> {facility} = opposite the {facility}
0.5* enfrente de <el:facility> {facility} = across from the {facility}
detrás de <el:facility> {facility} = behind the {facility}
cerca de <el:facility> {facility} = near the {facility}
0.5* cerca de <el:facility> {facility} = close to the {facility}
a la derecha de <el:facility> {facility} = to the right of the {facility}
a la izquierda de <el:facility> {facility} = to the left of the {facility}
al final del pasillo = at the end of the corridor
al fondo a la derecha = at the back on the right
al fondo a la izquierda = at the back on the left

# ---------------------------------------------------------------- rooms
# In English the kind of room is next to the noun and the quality before it; in Spanish they follow, mirrored.
[kind]
5* doble<s> = double
5* individual<es> = single
2* triple<s> = triple
1* familiar<es> = family
1* interior<es> = interior
1* exterior<es> = exterior
[quality]
3* tranquil<o> = quiet
1* tranquil<o> = peaceful
2* barat<o> = cheap
1* económic<o> = cheap
1* económic<o> = inexpensive
2* ampli<o> = spacious
1* ampli<o> = large
2* cómod<o> = comfortable
1* solead<o> = sunny
1* pequeñ<o> = small
1* luminos<o> = bright
2* grande<s> = large
2* grande<s> = big
[lodging/]
8* habitación/habitaciones = room/rooms ; f
1* suite/suites = suite/suites ; f
1* apartamento/apartamentos = apartment/apartments ; m
[lodging1]
4* {lodging.s} = {lodging.s}
6* habitación {kind@f} = {kind} room ; f
3* {lodging.s} {quality@lodging.s} = {quality} {lodging.s}
4* habitación {kind@f} {quality@f} = {quality} {kind} room ; f
[lodgings]
2* {lodging.p} = {lodging.p}
6* habitaciones {kind@fp} = {kind} rooms ; fp
2* {lodging.p} {quality@lodging.p} = {quality} {lodging.p}
2* habitaciones {kind@fp} {quality@fp} = {quality} {kind} rooms ; fp
[roomflaw]
pequeña = small
ruidosa = noisy
oscura = dark
fría = cold
cara = expensive
[extra]
con baño = with a bathroom
con ducha = with a shower
con bañera = with a bathtub
con balcón = with a balcony
con terraza = with a terrace
con vistas al mar = with a sea view
0.5* con vistas al mar = overlooking the sea
con vistas al jardín = with a view of the garden
con vistas a la montaña = with a view of the mountains
con aire acondicionado = with air conditioning
con calefacción = with heating
con cuna = with a cot
con media pensión = with half board
con pensión completa = with full board
en {floor} = on {floor}
lejos del ascensor = away from the lift
que d<é|é|en|en> al patio = that <faces|face> the courtyard
que no d<é|é|en|en> a la calle = that <does> not face the street
[aroom]
5* <un:lodging1> {lodging1} = a {lodging1}
6* <un:lodging1> {lodging1} {extra@lodging1} = a {lodging1} {extra@lodging1}
2* una habitación doble {beds} = a double room {beds} ; f
[beds]
con dos camas = with two beds
con cama de matrimonio = with a double bed
[rooms]
3* {few} {lodgings} = {few} {lodgings} ; fp
2* {few} {lodgings} {extra@lodgings} = {few} {lodgings} {extra@lodgings} ; fp
[big]
una habitación familiar = a family room
una habitación triple = a triple room
un apartamento = an apartment
una suite con dos dormitorios = a suite with two bedrooms
[roomish]
5* {aroom} = {aroom}
2* {rooms} = {rooms}

# ---------------------------------------------------------------- things
# what may break
[gadget]
ducha = shower ; f
calefacción = heating ; f
caja fuerte = safe ; f
nevera = fridge ; f
cafetera = coffee machine ; f
lámpara = lamp ; f
luz de la mesilla = bedside light ; f
cerradura = lock ; f
cisterna = toilet flush ; f
aire acondicionado = air conditioning ; m
televisor = television ; m
0.5* televisor = TV ; m
teléfono = telephone ; m
0.5* teléfono = phone ; m
secador = hairdryer ; m
grifo = tap ; m
mando a distancia = remote control ; m
wifi = wifi ; m
ventilador = fan ; m
despertador = alarm clock ; m
luces del baño = bathroom lights ; fp
persianas = blinds ; fp
enchufes = sockets ; mp
grifos del baño = bathroom taps ; mp
# what may be dirty, missing, asked for
[linen/]
3* toalla/toallas = towel/towels ; f
2* manta/mantas = blanket/blankets ; f
2* almohada/almohadas = pillow/pillows ; f
1* sábana/sábanas = sheet/sheets ; f
1* alfombra/alfombras = rug/rugs ; f
1* percha/perchas = hanger/hangers ; f
1* colcha/colchas = bedspread/bedspreads ; f
2* vaso/vasos = glass/glasses ; m
1* cenicero/ceniceros = ashtray/ashtrays ; m
1* albornoz/albornoces = bathrobe/bathrobes ; m
1* cojín/cojines = cushion/cushions ; m
1* cuchillo/cuchillos = knife/knives ; m
1* taza/tazas = cup/cups ; f
[loan]
un paraguas = an umbrella
un adaptador = an adapter
un cargador = a charger
una plancha = an iron
un bolígrafo = a pen
unas tijeras = some scissors
un mapa de la ciudad = a map of the city
un plano del metro = a map of the underground
una cuna = a cot
un sacacorchos = a corkscrew
una silla de ruedas = a wheelchair
un par de bicicletas = a couple of bicycles
[luggage]
5* equipaje = luggage ; m
1* equipaje = baggage ; m
4* maletas = suitcases ; fp
3* maletas = bags ; fp
3* maleta = suitcase ; f
2* maleta = bag ; f
2* bolsa de viaje = travel bag ; f
1* baúl = trunk ; m
2* mochilas = backpacks ; fp
2* mochila = backpack ; f
1* bolsas = bags ; fp
[lost]
cartera = wallet ; f
cámara = camera ; f
chaqueta = jacket ; f
bufanda = scarf ; f
bolsa = bag ; f
pulsera = bracelet ; f
reloj = watch ; m
paraguas = umbrella ; m
sombrero = hat ; m
abrigo = coat ; m
pasaporte = passport ; m
teléfono móvil = mobile phone ; m
collar = necklace ; m
gafas = glasses ; fp
llaves del coche = car keys ; fp
guantes = gloves ; mp
pendientes = earrings ; mp
[mine]
4* mi<s:lost> {lost} = my {lost}
2* mi<s:lost> {lost} {colour@lost} = my {colour} {lost}
[colour]
negr<o> = black
roj<o> = red
blanc<o> = white
verde<s> = green
azul<es> = blue
marr<ón|ón|ones|ones> = brown
gris<es> = grey
nuev<o> = new
[paper]
factura = invoice ; f
reserva = reservation ; f
tarjeta de embarque = boarding pass ; f
confirmación = confirmation ; f
recibo = receipt ; m
contrato = contract ; m
billete de tren = train ticket ; m
entradas del museo = museum tickets ; fp

# ---------------------------------------------------------------- food
[hotdrink]
un café con leche = a white coffee
un café solo = a black coffee
un té con limón = a tea with lemon
un té con leche = a tea with milk
un zumo de naranja = an orange juice
un chocolate caliente = a hot chocolate
[drink]
un café con leche = a white coffee
un café solo = a black coffee
un té con limón = a tea with lemon
un zumo de naranja = an orange juice
un vaso de leche = a glass of milk
una botella de agua = a bottle of water
una copa de vino tinto = a glass of red wine
una cerveza fría = a cold beer
un chocolate caliente = a hot chocolate
[food]
una tortilla = an omelette
una ensalada = a salad
una tostada = a slice of toast
dos tostadas = two slices of toast
un bocadillo de queso = a cheese sandwich
un bocadillo de jamón = a ham sandwich
una sopa de pescado = a fish soup
huevos fritos = fried eggs
fruta fresca = fresh fruit
un yogur natural = a plain yoghurt
un trozo de tarta de manzana = a piece of apple pie
pollo asado con patatas = roast chicken with potatoes
[meal]
desayuno = breakfast ; m
comida = lunch ; f
almuerzo = lunch ; m
cena = dinner ; f
[charge/]
botella de agua/botellas de agua = bottle of water/bottles of water ; f
cerveza/cervezas = beer/beers ; f
café/cafés = coffee/coffees ; m
llamada/llamadas = phone call/phone calls ; f
cena/cenas = dinner/dinners ; f
desayuno/desayunos = breakfast/breakfasts ; m
noche/noches = night/nights ; f
bocadillo/bocadillos = sandwich/sandwiches ; m
"""
