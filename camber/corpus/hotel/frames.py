"""What is said at a front desk: sentence frames in Spanish and English (syntax: see `engine`)."""

FRAMES = """
# ---------------------------------------------------------------- a turn: one sentence, greeted, or two
[turn]
30* {say} = {say}
7* {greeting}, {say} = {greeting}, {say}
4* {excuse}, {ask} = {excuse}, {ask}
2* {excuse}, {sir}, {ask} = {excuse}, {sir}, {ask}
4* {fault}? = {fault}?
2* {fault}, por favor? = {fault}, please?
9* {trouble} = {trouble}
4* {state}. {ask} = {state}. {ask}
[say]
13* {ask} = {ask}
11* {state}. = {state}.
9* {question} = {question}
9* {reply} = {reply}
[greeting]
3* hola = hello
2* hola = hi
5* buenos días = good morning
4* buenas tardes = good afternoon
1* buenas tardes = good evening
2* buenas noches = good evening
[excuse]
3* perdone = excuse me
1* perdone = sorry
2* disculpe = excuse me
1* disculpe = pardon me
1* oiga = excuse me
1* por favor = please

# ---------------------------------------------------------------- time
[at]
5* a {clock} = at {clock}
4* a {daytime} = at {daytime}
2* a mediodía = at noon
1* a mediodía = at midday
[on]
3* mañana = tomorrow
1* pasado mañana = the day after tomorrow
2* el {weekday} = on {weekday}
1* el próximo {weekday} = next {weekday}
1* el {weekday} que viene = next {weekday}
3* {dayofmonth} = on {dayofmonth}
1* {fulldate} = on {fulldate}
[when]
4* {at} = {at}
5* mañana {at} = tomorrow {at}
2* el {weekday} {at} = on {weekday} {at}
1* esta tarde a {clock} = this afternoon at {clock}
2* mañana por la mañana = tomorrow morning
1* mañana por la tarde = tomorrow afternoon
1* esta noche = tonight
1* antes de {hour} = before {hour}
1* después de {hour} = after {hour}
1* dentro de {minutes} minutos = in {minutes} minutes
1* dentro de media hora = in half an hour
1* dentro de una hora = in an hour
1* lo antes posible = as soon as possible
[early]
4* {at} = {at}
4* mañana {at} = tomorrow {at}
2* el {weekday} {at} = on {weekday} {at}
1* antes de {hour} = before {hour}
[morning]
a las ocho = at eight
a las siete y media = at half past seven
a las nueve menos cuarto = at a quarter to nine
a las ocho y cuarto = at a quarter past eight
mañana a las siete = tomorrow at seven
antes de las nueve = before nine
[evening]
a las nueve = at nine
a las ocho y media = at half past eight
a las diez menos cuarto = at a quarter to ten
después de las nueve = after nine
esta noche = tonight
[by]
3* para el {weekday} = by {weekday}
1* para mañana = by tomorrow
1* para mañana {at} = by tomorrow {at}
[for]
3* para el {weekday} = for {weekday}
4* para {dayofmonth} = for {dayofmonth}
1* para {fulldate} = for {fulldate}
2* para mañana = for tomorrow
2* para esta noche = for tonight
1* para el fin de semana = for the weekend
6* {span} = {span}
[stay]
4* para {few} noches = for {few} nights
3* para una noche = for one night
2* para una semana = for a week
1* para {few} semanas = for {few} weeks
[till]
4* hasta = until
1* hasta = till
[until]
{till} {clock} = {till} {clock}
{till} {daytime} = {till} {daytime}
{till} el {weekday} = {till} {weekday}
{till} {dayofmonth} = {till} {dayofmonth}
{till} que volvamos = {till} we come back
{till} mañana = {till} tomorrow

# ---------------------------------------------------------------- requests
[ask]
5* ¿podría {do}? = could you {do}?
4* ¿podría {do}, por favor? = could you {do}, please?
4* ¿^podría {do}? = could you {do}?
2* ¿^podría {do}, por favor? = could you {do}, please?
3* ¿^puede {do}? = can you {do}?
2* ¿puede {do}, por favor? = can you {do}, please?
1* ¿sería tan amable de {do}? = would you be so kind as to {do}?
6* {want} = {want}
[do]
3* despertar~me {early} = wake me up {early}
2* despertar~nos {early} = wake us up {early}
1* llamar~me a la habitación {roomno} {when} = call me in room {roomno} {when}
1* llamar a la habitación {roomno} {when} = call room {roomno} {when}
3* {order}~me un taxi {when} = {order} me a taxi {when}
2* {order}~nos un taxi para ir a <el:sight> {sight} = {order} us a taxi to go to the {sight}
2* llamar a un taxi para {someone} = call a taxi for {someone}
2* subir~nos <el:luggage> {luggage} a la habitación {roomno} = take our {luggage} up to room {roomno}
2* subir~me <el:luggage> {luggage} a la habitación = take my {luggage} up to my room
2* bajar~nos <el:luggage> {luggage} {when} = bring our {luggage} down {when}
2* guardar~nos <el:luggage> {luggage} {until} = keep our {luggage} {until}
2* guardar~me <el:luggage> {luggage} {until} = keep my {luggage} {until}
1* enviar mi<s:luggage> {luggage} a <el:hub> {hub} = send my {luggage} to the {hub}
2* dar~me la llave de la habitación {roomno} = give me the key to room {roomno}
1* dar~nos las llaves de las habitaciones {roomno} y {two:roomno} = give us the keys to rooms {roomno} and {two}
1* dar~me otra llave para {someone} = give me another key for {someone}
2* dar~me {aroom} = give me {aroom}
2* traer~me otr<o:linen.s> {linen.s} = bring me another {linen.s}
2* traer~nos {few} {linen.p} más = bring us {few} more {linen.p}
2* traer~me {food} y {drink} = bring me {food} and {drink}
1* traer~nos {drink} a <el:venue> {venue} = bring us {drink} to the {venue}
2* subir~me el desayuno a la habitación {roomno} {morning} = bring breakfast up to room {roomno} for me {morning}
2* prestar~me {loan} = lend me {loan}
1* prestar~nos {loan} {until} = lend us {loan} {until}
2* {book}~nos una mesa para {several} personas {when} = {book} us a table for {several} people {when}
1* {book}~me una mesa {invenue} {when} = {book} me a table {invenue} {when}
2* {book}~nos {roomish} {for} = {book} us {roomish} {for}
2* recomendar~nos {goodplace} {near} aquí = recommend us {goodplace} {near} here
1* recomendar~me {goodplace} cerca de <el:sight> {sight} = recommend me {goodplace} near the {sight}
2* preparar~me la cuenta de la habitación {roomno} = prepare the bill for room {roomno} for me
1* preparar~nos la cuenta {when} = prepare our bill {when}
2* imprimir~me <el:paper> {paper} = print the {paper} for me
1* enviar~me <el:paper> {paper} por correo electrónico = send me the {paper} by e-mail
2* cambiar~nos de habitación = move us to another room
1* cambiar~me a <un:lodging1> {lodging1} = move me to a {lodging1}
2* explicar~me cómo funciona<n:gadget> <el:gadget> {gadget} = explain to me how the {gadget} <works|work:gadget>
2* limpiar la habitación {roomno} {when} = clean room {roomno} {when}
2* decir~me dónde está {theplace} = tell me where {theplace} is
2* decir~me dónde está <el:facility> {facility} = tell me where the {facility} is
2* decir~me a qué hora abre <el:shop> {shop} = tell me what time the {shop} opens
1* decir~me a qué hora cierra <el:service> {service} = tell me what time the {service} closes
2* decir~me cuánto cuesta {aroom} = tell me how much {aroom} costs
2* decir~me si ha llegado {mister} = tell me whether {mister} has arrived
2* decir~le a {mister} que {news} = tell {mister} that {news}
2* avisar a {staff} de que {news} = let {staff} know that {news}
1* pasar~me con la habitación {roomno} = put me through to room {roomno}
1* deletrear~me su apellido = spell your surname for me
1* ayudar~nos con <el:luggage> {luggage} = help us with the {luggage}
1* lavar~me {few} camisas {by} = wash {few} shirts for me {by}
1* planchar~me este traje {by} = iron this suit for me {by}
1* bajar un poco la música, que no podemos dormir = turn the music down a little, because we cannot sleep
[booking]
3* reserva = reservation ; f
2* reserva = booking ; f
[under]
3* a nombre de = in the name of
1* a nombre de = under the name of
[sorry]
2* lo siento = I am sorry
2* lo siento = I'm sorry
1* lo siento = sorry
[book]
3* reservar = book
2* reservar = reserve
[booked]
3* reservado = booked
2* reservado = reserved
[near]
3* cerca de = near
1* cerca de = close to
[order]
3* pedir = call
1* pedir = order
1* pedir = get
[news]
2* hemos llegado = we have arrived
1* ya estamos {meet} = we are already {meet}
2* {kin} llegará<n:kin> tarde = {kin} will arrive late
1* {kin} no se encuentra<n:kin> bien = {kin} <does:kin> not feel well
2* llegaremos {at} = we will arrive {at}
1* {kin} est<á:kin> {meet} = {kin} <is:kin> {meet}
2* nos vamos {on} = we are leaving {on}
2* salimos {at} = we leave {at}
1* hemos perdido el tren de {town} = we have missed the train from {town}
1* necesitamos {few} {linen.p} más en la habitación {roomno} = we need {few} more {linen.p} in room {roomno}
[want]
2* si llega {mister}, dígale que {news}, por favor.
    = if {mister} arrives, please tell <him|her|him|her:mister> that {news}.
1* si llama {mister}, dígale que {news}. = if {mister} calls, tell <him|her|him|her:mister> that {news}.
2* cuando llegue<n:kin> {kin}, de<le|les:kin> la llave de la habitación {roomno}.
    = when {kin} <arrives|arrive:kin>, give <him|her|them|them:kin> the key to room {roomno}.
2* antes de salir para {town}, {i.want} {errand}. = before leaving for {town}, {i.want} to {errand}.
1* como nos vamos {on}, {we.want} {errand}. = since we are leaving {on}, {we.want} to {errand}.
1* como nos vamos {on}, {we.want} {errand}. = as we are leaving {on}, {we.want} to {errand}.
1* aunque la habitación {roomno} es un poco {roomflaw}, {we.want} quedarnos {few} noches más.
    = although room {roomno} is a little {roomflaw}, {we.want} to stay {few} more nights.
5* {i.want} {aroom} {for}. = {i.want} {aroom} {for}.
3* {i.want} {aroom} {stay}. = {i.want} {aroom} {stay}.
2* {we.want} {big} para {few} adultos y un niño. = {we.want} {big} for {few} adults and one child.
2* {i.want} {big} para {several} personas {for}. = {i.want} {big} for {several} people {for}.
4* {we.wish} {roomish} {for}. = {we.wish} {roomish} {for}.
3* {we.wish} {roomish} {stay}. = {we.wish} {roomish} {stay}.
2* {i.want} {book} {roomish} {for}, por favor. = {i.want} to {book} {roomish} {for}, please.
2* {i.want} cambiar la {booking} {old:for} y quedarme {span}.
    = {i.want} to change the {booking} {old} and stay {span}.
2* {i.want} cancelar la {booking} {under} {fullname}.
    = {i.want} to cancel the {booking} {under} {fullname}.
2* {i.want} confirmar la {booking} de {someone} {for}. = {i.want} to confirm the {booking} of {someone} {for}.
2* {i.want} pagar la cuenta con tarjeta. = {i.want} to pay the bill by card.
1* {i.want} pagar en efectivo la habitación {roomno}. = {i.want} to pay for room {roomno} in cash.
1* {we.want} pagar las dos habitaciones por separado. = {we.want} to pay for the two rooms separately.
2* {i.want} hablar con {staff}, por favor. = {i.want} to speak to {staff}, please.
2* {i.want} dejar un mensaje para {someone}. = {i.want} to leave a message for {someone}.
1* {i.want} alquilar un coche {for}. = {i.want} to rent a car {for}.
2* {we.want} desayunar {invenue} {morning}. = {we.want} to have breakfast {invenue} {morning}.
2* {i.want} desayunar en la habitación: {food} y {hotdrink}.
    = {i.want} to have breakfast in my room: {food} and {hotdrink}.
1* {we.want} cenar {invenue}, si es posible {evening}. = {we.want} to have dinner {invenue}, if possible {evening}.
2* {i.want} que me despertaran {early}. = {i.want} to be woken up {early}.
1* {i.want} ver la habitación antes de decidirme. = {i.want} to see the room before I decide.
1* {we.want} quedarnos {few} noches más en la habitación {roomno}.
    = {we.want} to stay {few} more nights in room {roomno}.
2* necesito {loan}, por favor. = I need {loan}, please.
2* necesitamos {few} {linen.p} y otr<o:other> {other:linen.s} en la habitación {roomno}.
    = we need {few} {linen.p} and another {other} in room {roomno}.
2* necesitamos un taxi para ir a <el:sight> {sight} {when}. = we need a taxi to go to the {sight} {when}.
2* despiérteme {early}, por favor. = wake me up {early}, please.
1* súbanos <el:luggage> {luggage} a la habitación {roomno}, por favor.
    = take our {luggage} up to room {roomno}, please.
1* cárguelo a la habitación {roomno}, por favor. = charge it to room {roomno}, please.
[errand]
pagar la cuenta = pay the bill
cambiar dinero = change some money
comprar unos sellos = buy some stamps
visitar <el:sight> {sight} = visit the {sight}
comer {invenue} = have lunch {invenue}
hablar con {staff} = speak to {staff}
hablar con {staff} = talk to {staff}
dejar las llaves en recepción = leave the keys at reception
[i.want]
6* quisiera = I would like
4* quisiera = I'd like
3* me gustaría = I would like
1* querría = I would like
1* querría = I'd like
# with a noun in the plural «nos gustaría» would have to agree
[we.wish]
4* quisiéramos = we would like
2* quisiéramos = we'd like
1* necesitamos = we need
[we.want]
4* quisiéramos = we would like
2* quisiéramos = we'd like
2* nos gustaría = we would like

# ---------------------------------------------------------------- statements of guests
[state]
4* tengo una {booking} {under} {fullname} = I have a {booking} {under} {fullname}
2* tenemos una {booking} {for} {under} {fullname} = we have a {booking} {for} {under} {fullname}
2* {we.have} {booked} {roomish} {for} = {we.have} {booked} {roomish} {for}
2* {someone} ha<n:someone> {booked} {aroom} {for} = {someone} <has:someone> {booked} {aroom} {for}
2* {kin} llegará<n:kin> {on} en el tren de {town} = {kin} will arrive {on} on the train from {town}
2* me llamo {fullname} y vengo de {town} = my name is {fullname} and I come from {town}
1* somos {several} y venimos de {town} = there are {several} of us and we come from {town}
2* nos vamos {on} {at} = we are leaving {on} {at}
2* me voy {on}, así que necesito la cuenta antes de {hour} = I am leaving {on}, so I need the bill before {hour}
2* {i.have} perdido la llave de mi habitación, la {roomno} = {i.have} lost the key to my room, number {roomno}
2* {we.have} dejado la llave dentro de la habitación {roomno} = {we.have} left the key inside room {roomno}
1* la tarjeta no abre la puerta de la habitación {roomno} = the card does not open the door of room {roomno}
2* {i.have} olvidado {mine} {inhotel} = {i.have} left {mine} {inhotel}
1* no encuentro {mine} = I cannot find {mine}
1* no encuentro {mine} = I can't find {mine}
2* {mister} ha olvidado su<s:lost> {lost} en la habitación {roomno}
    = {mister} has left <his|her|his|her:mister> {lost} in room {roomno}
2* a {someone} no le<s:someone> gusta su habitación porque es demasiado {roomflaw}
    = {someone} <doesn't|don't:someone> like <his|her|their|their:someone> room because it is too {roomflaw}
2* {kin} ha<n:kin> perdido la llave de su habitación y no puede<n:kin> entrar
    = {kin} <has:kin> lost the key to <his|her|their|their:kin> room and cannot get in
1* la habitación que reserv<ó|ó|aron|aron:someone> {someone} el {weekday} no tiene {lack}
    = the room that {someone} booked on {weekday} has no {lack}
1* me han robado <el:lost> {lost} en {theplace} = my {lost} <has:lost> been stolen at {theplace}
2* a {kin} no le<s:kin> gusta la habitación porque es demasiado {roomflaw}
    = {kin} <does:kin> not like the room because it is too {roomflaw}
1* a {kin} le<s:kin> gusta mucho <el:facility> {facility} = {kin} <likes|like:kin> the {facility} very much
1* nos gusta mucho la habitación, pero preferimos {aroom} = we like the room very much, but we prefer {aroom}
2* {ache} y necesito ir {clinic} = {ache} and I need to go {clinic}
2* {kin} est<á:kin> enferm<o:kin> y necesita<n:kin> un médico = {kin} <is:kin> ill and <needs|need:kin> a doctor
2* estamos muy contentos con la habitación {roomno} = we are very happy with room {roomno}
1* {someone} y yo estamos esperando {meet} desde {hour} = {someone} and I have been waiting {meet} since {hour}
1* el taxi que pedimos para {hour} todavía no ha llegado = the taxi that we ordered for {hour} has not arrived yet
1* {i.have} aparcado el coche delante de {theplace} = {i.have} parked the car in front of {theplace}
1* esperamos una llamada de {mister} {at} = we are expecting a call from {mister} {at}
1* mi vuelo a {town} sale {on} {at} = my flight to {town} leaves {on} {at}

[i.have]
2* he = I have
1* he = I've
[we.have]
2* hemos = we have
1* hemos = we've
[lack]
balcón = balcony
calefacción = heating
ventana = window
aire acondicionado = air conditioning
caja fuerte = safe
[ache]
me duele la cabeza = I have a headache
me duele el estómago = I have a stomach ache
me duelen las muelas = I have toothache
me he torcido el tobillo = I have twisted my ankle
[clinic]
a la farmacia = to the pharmacy
al hospital = to the hospital
al médico = to the doctor

# ---------------------------------------------------------------- complaints
[trouble]
3* <el:gadget> {gadget} de la habitación {roomno} no funciona<n:gadget>.
    = the {gadget} in room {roomno} <does:gadget> not work.
1* <el:gadget> {gadget} de la habitación {roomno} no funciona<n:gadget>.
    = the {gadget} in room {roomno} <is:gadget> not working.
2* <el:gadget> {gadget} de la habitación {roomno} no funciona<n:gadget>.
    = the {gadget} in room {roomno} <doesn't|don't:gadget> work.
2* <el:gadget> {gadget} de nuestra habitación est<á:gadget> rot<o:gadget>.
    = the {gadget} in our room <is:gadget> broken.
2* no hay agua caliente en la habitación {roomno}. = there is no hot water in room {roomno}.
1* desde {hour} no hay luz en {floor}. = there has been no light on {floor} since {hour}.
2* falta <un:linen.s> {linen.s} en la habitación {roomno}. = there is a {linen.s} missing in room {roomno}.
2* faltan {few} {linen.p} en nuestra habitación. = there are {few} {linen.p} missing in our room.
2* los huéspedes de la habitación {roomno} hacen mucho ruido y no podemos dormir.
    = the guests in room {roomno} make a lot of noise and we cannot sleep.
1* la habitación {roomno} huele a tabaco. = room {roomno} smells of tobacco.
1* hace demasiado {heat} en la habitación {roomno}. = it is too {heat} in room {roomno}.
2* creo que hay un error en la cuenta: nos han cobrado {few} {charge.p} de más.
    = I think there is a mistake in the bill: you have charged us for {few} {charge.p} too many.
2* en la cuenta hay <un:charge.s> {charge.s} que no es nuestr<o:charge.s>.
    = there is a {charge.s} on the bill that is not ours.
2* pedimos {aroom} y nos han dado una habitación {kind@f}. = we asked for {aroom} and you have given us a {kind} room.
1* todavía no han limpiado la habitación {roomno}. = room {roomno} has not been cleaned yet.
1* todavía no nos han subido <el:luggage> {luggage}. = our {luggage} <has:luggage> not been brought up yet.
1* pedimos {food} hace {minutes} minutos y {waiter} todavía no ha venido.
    = we ordered {food} {minutes} minutes ago and {waiter} has not come yet.
[heat]
calor = hot
frío = cold
# a remark about a thing, then what should be done about it: kept together so that the pronoun agrees
[fault]
2* est<e:linen.s> {linen.s} est<á:linen.s> suci<o:linen.s>. ¿podría cambiar~me<lo:linen.s>
    = this {linen.s} is dirty. Could you change it for me
2* est<e:linen.s> {linen.s} no est<á:linen.s> limpi<o:linen.s>. ¿^podría cambiar~me<lo:linen.s>
    = this {linen.s} is not clean. Could you change it for me
2* est<e:linen.p> {linen.p} est<á:linen.p> suci<o:linen.p>. ¿podría cambiar~nos<lo:linen.p>
    = these {linen.p} are dirty. Could you change them for us
3* <el:gadget> {gadget} no funciona<n:gadget>. ¿podría arreglar~me<lo:gadget>
    = the {gadget} <does:gadget> not work. Could you fix <it:gadget> for me
2* tenemos <el:luggage> {luggage} en la habitación {roomno}. ¿^puede bajar~nos<lo:luggage>
    = we have our {luggage} in room {roomno}. Can you bring <it:luggage> down for us
1* he olvidado {mine} en la habitación {roomno}. ¿^puede guardar~me<lo:mine>
    = I have left {mine} in room {roomno}. Can you keep <it:mine> for me

# ---------------------------------------------------------------- questions
[question]
3* ¿tienen {roomish} {for}? = do you have {roomish} {for}?
3* ¿tienen habitaciones libres {for}? = do you have any rooms available {for}?
2* ¿les queda {aroom} {for}? = do you have {aroom} left {for}?
2* ¿cuánto cuesta {aroom} por noche? = how much is {aroom} per night?
2* ¿cuánto cuesta {aroom} por noche? = how much does {aroom} cost per night?
1* ¿cuánto cuestan {rooms} {for}? = how much are {rooms} {for}?
2* ¿está incluid<o:meal> <el:meal> {meal} en el precio? = is {meal} included in the price?
2* ¿a qué hora se sirve <el:meal> {meal}? = what time is {meal} served?
1* ¿hasta qué hora se puede tomar <el:meal> {meal} los {weekday.plural}?
    = until what time can we have {meal} on {weekday.plural}?
2* ¿dónde se sirve <el:meal> {meal}? = where is {meal} served?
2* ¿a qué hora abre <el:service> {service} {on}? = what time does the {service} open {on}?
2* ¿a qué hora tenemos que dejar la habitación {on}? = what time do we have to check out {on}?
2* ¿dónde está <el:facility> {facility}? = where is the {facility}?
1* ¿está abiert<o:service> <el:service> {service} los {weekday.plural}? = is the {service} open on {weekday.plural}?
3* ¿cómo se llega a {theplace} desde el hotel? = how do I get to {theplace} from the hotel?
2* ¿está muy lejos {theplace}? = is {theplace} very far?
2* ¿está {theplace} lejos de {two:theplace}? = is {theplace} far from {two}?
2* ¿hay <un:place> {place} cerca de aquí? = is there a {place} near here?
1* ¿hay <un:place> {place} cerca de aquí? = is there a {place} nearby?
1* ¿hay muchos restaurantes cerca de <el:sight> {sight}? = are there many restaurants near the {sight}?
1* ¿qué autobús va a <el:sight> {sight}? = which bus goes to the {sight}?
1* ¿cuánto se tarda en llegar a <el:sight> {sight} en taxi? = how long does it take to get to the {sight} by taxi?
1* ¿de dónde sale el tren de {hour} a {town}? = where does the {hour} o'clock train to {town} leave from?
2* ¿ha llegado ya {mister}? = has {mister} arrived yet?
2* ¿hay algún mensaje para {someone}? = is there a message for {someone}?
1* ¿ha llamado alguien preguntando por {mister}? = has anyone called asking for {mister}?
2* ¿en qué habitación está {fullname}? = which room is {fullname} in?
2* ¿puedo dejar <el:luggage> {luggage} aquí {until}? = can I leave my {luggage} here {until}?
1* ¿podemos pagar la habitación {roomno} con tarjeta? = can we pay for room {roomno} by card?
2* ¿han encontrado {mine}? = have you found {mine}?
1* ¿cuál es la clave del wifi de la habitación {roomno}? = what is the wifi password for room {roomno}?
1* ¿se admiten perros {inhotel}? = are dogs allowed {inhotel}?
1* ¿es tranquila la habitación {roomno}? = is room {roomno} quiet?
[weekday.plural]
lunes = Mondays
martes = Tuesdays
viernes = Fridays
sábados = Saturdays
domingos = Sundays

# ---------------------------------------------------------------- the staff answer
[reply]
3* su habitación es {roomonfloor}, {where}. = your room is {roomonfloor}, {where}.
3* aquí tiene la llave de la habitación {roomno}, {sir}. = here is the key to room {roomno}, {sir}.
2* {sorry}, {sir}, no nos quedan {lodgings} {for}. = {sorry}, {sir}, we have no {lodgings} left {for}.
2* {sorry}, el hotel está completo {full}. = {sorry}, the hotel is fully booked {full}.
3* {aroom} cuesta {price} por noche, {meals}. = {aroom} costs {price} per night, {meals}.
2* son {price} en total, {sir}. = that is {price} altogether, {sir}.
2* le hemos cobrado {price} por {few} {charge.p}. = we have charged you {price} for {few} {charge.p}.
2* el desayuno se sirve {opening} {invenue}. = breakfast is served {opening} {invenue}.
1* la comida se sirve {midday} {invenue}. = lunch is served {midday} {invenue}.
1* la cena se sirve {late} {invenue}. = dinner is served {late} {invenue}.
2* <el:service> {service} abre a {hour} y cierra a {two:clock}. = the {service} opens at {hour} and closes at {two}.
2* <el:service> {service} está abiert<o:service> {opening}. = the {service} is open {opening}.
2* <el:facility> {facility} está en {floor}, {where}. = the {facility} is on {floor}, {where}.
2* siga todo recto hasta {theplace} y gire a la {side}. = go straight on to {theplace} and turn {side}.
2* {theplace} está a {minutes} minutos a pie, {beside} de <el:sight> {sight}.
    = {theplace} is {minutes} minutes away on foot, {beside} the {sight}.
1* cruce la calle y verá {theplace} a la {side}. = cross the street and you will see {theplace} on the {side}.
2* ha llegado un paquete para {guest}. = a parcel has arrived for {guest}.
2* ha llamado {mister} y ha dejado un mensaje para usted. = {mister} has called and left a message for you.
2* le espera {mister} {meet}. = {mister} is waiting for you {meet}.
2* le subiremos <el:luggage> {luggage} a la habitación {when}. = we will take your {luggage} up to your room {when}.
1* el taxi le recogerá {when} delante del hotel. = the taxi will pick you up {when} in front of the hotel.
2* ahora mismo les subimos {few} {linen.p} más. = we will bring you up {few} more {linen.p} right away.
1* {staff} se lo explicará cuando vuelva. = {staff} will explain it to you when <he|she|he|she:staff> comes back.
2* ¿cuántas noches se van a quedar, {sir}? = how many nights are you going to stay, {sir}?
1* ¿me permite su pasaporte, {sir}? = may I see your passport, {sir}?
1* ¿podría rellenar esta ficha y firmar aquí, {sir}? = could you fill in this form and sign here, {sir}?
2* ¿prefiere {aroom} o {two:aroom}? = do you prefer {aroom} or {two}?
1* ¿a nombre de quién está la {booking} {for}? = in whose name is the {booking} {for}?
1* está prohibido fumar {inhotel}. = smoking is not allowed {inhotel}.
1* ¡bienvenid<o:sir> a {town}, {sir}! = welcome to {town}, {sir}!
1* ¡que tenga un buen viaje a {town}, {sir}! = have a good trip to {town}, {sir}!
1* no se preocupe, {sir}, enviaremos a alguien a la habitación {roomno} {when}.
    = do not worry, {sir}, we will send someone to room {roomno} {when}.
[midday]
de una a tres = from one to three
de la una a las tres y media = from one to half past three
a partir de la una = from one onwards
[late]
de ocho a diez = from eight to ten
de las ocho y media a las once = from half past eight to eleven
a partir de las nueve = from nine onwards
[full]
{till} {dayofmonth} = {till} {dayofmonth}
{span} = {span}
esta noche = tonight
este fin de semana = this weekend
[meals]
2* con el desayuno incluido = breakfast included
1* impuestos incluidos = taxes included
1* sin impuestos = without taxes
[side]
derecha = right
izquierda = left
[beside]
2* al lado = next to
1* al lado = beside
2* enfrente = opposite
1* enfrente = across from
2* detrás = behind
2* cerca = near
1* cerca = close to
"""
