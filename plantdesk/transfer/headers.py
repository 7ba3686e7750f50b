"""The headers of columns that an import knows, in many languages, separated by `|`."""

#: Headers in English, German, French and Spanish, and the usual ones in Italian, Portuguese, Dutch, Swedish, Danish,
#: Norwegian, Finnish, Polish, Czech, Hungarian, Russian, Japanese and Chinese, without case and accents (タク is タグ).
HEADERS = {
    "id": "id|ids|plant id|plant ids|number|numbers|no|nr|nummer|nummern|kennung|pflanzen id|identifiant|numero|n°"
    "|identificador|inventarnr|inventarnummer"
    "|identificativo|numer|identyfikator|cislo|identifikator|szam|sorszam|azonosito|tunnus|номер|番号|编号",
    "name": "name|names|plant|plants|plant name|plant names|pflanze|pflanzen|pflanzenname|pflanzennamen|sorte|sorten"
    "|bezeichnung|nom|noms|plante|plantes|nom de la plante|nombre|nombres|planta|plantas|nomes|nomi|piante|planten"
    "|namen|rosliny|vaxter|rostliny|kasvit|растения|species names|scientific names|botanical names|latin names"
    "|common names|nombre de la planta|title|titel|titre|titulo|species|species name|scientific name|botanical name"
    "|latin name|common name|vernacular name|accepted name|taxon|taxon name|wissenschaftlicher name|botanischer name"
    "|lateinischer name|deutscher name|trivialname|pflanzenart|espece|nom scientifique|nom botanique|nom latin"
    "|nom commun|nom vernaculaire|nom francais|especie|nombre cientifico|nombre botanico|nombre latino|nombre comun"
    "|nombre vulgar|nome|nome scientifico|nome comune|nome cientifico|nome popular|pianta|naam|plantnaam|soort"
    "|wetenschappelijke naam|namn|vaxt|vaxtnamn|navn|plantenavn|nazwa|roslina|nazev|rostlina|название|растение"
    "|nederlandse naam|latijnse naam|botanische naam|nome della pianta|nome italiano|nome botanico|nome latino|specie"
    "|nome da planta|nome comum|svenskt namn|vetenskapligt namn|latinskt namn|plantens navn|dansk navn|norsk navn"
    "|latinsk navn|videnskabeligt navn|vitenskapelig navn|nazwa rosliny|nazwa polska|nazwa łacinska|nazwa naukowa"
    "|gatunek|nazev rostliny|jmeno|cesky nazev|latinsky nazev|vedecky nazev|nev|noveny|noveny neve|novenynev"
    "|megnevezes|artname|magyar nev|latin nev|tudomanyos nev|faj|nimi|kasvi|kasvin nimi|laji|tieteellinen nimi"
    "|名前|名称|植物名|和名|植物",
    "tag": "tag|tags|type|types|category|group|groups|label|labels|beds|locations|beete|standorte|gruppen|groupes"
    "|grupos|gruppi|typ|kategorie|gruppe|schlagwort|categorie|groupe|etiquette|tipo"
    "|categoria|grupo|etiqueta|bed|location|beet|standort|ort|emplacement|lieu|ubicacion|lugar"
    "|mot cle|mots cles|etiquettes|etiquetas|categories|categorias|kategorien|schlagworte|schlagworter|etikett"
    "|etiketten|gruppo|etichetta|etichette|luogo|posizione|local|groep|locatie|standplaats|etiket|etiketter|tagg|taggar"
    "|kategori|grupp|plats|sted|kategoria|grupa|miejsce|znacznik|znaczniki|etykieta|etykiety|misto|stitek|stitky"
    "|trefwoord|trefwoorden|aiuola|canteiro|localizacao|merkelapp|merkelapper|tagi|grzadka|rabata|skupina|zahon"
    "|room|rooms|raum|raume|zimmer|piece|salle|chambre|habitacion|cuarto|sala|place|places|platz|localisation|endroit"
    "|massif|plate bande|arriate|bancal|macizo|sitio"
    "|cimke|cimkek|tipus|csoport|hely|helyszin|agyas|ryhma|tyyppi|paikka|sijainti|kukkapenkki|avainsana|avainsanat"
    "|категория|место|метка|метки|тег|теги|分類|分类|标签|標籤|タク",
    "note": "note|notes|comment|comments|remark|remarks|notiz|notizen|bemerkung|bemerkungen|anmerkung|kommentar"
    "|remarque|remarques|commentaire|commentaires|nota|notas|comentario|comentarios|observaciones|description"
    "|beschreibung|descripcion|osservazioni|commento|commenti|descrizione|observacoes|descricao|opmerking|opmerkingen"
    "|notitie|anteckning|anteckningar|bemærkning|merknad|uwagi|notatka|opis|poznamka"
    "|notities|omschrijving|beschrijving|aantekening|aantekeningen|annotazione|annotazioni|observacao|anotacoes"
    "|kommentarer|beskrivning|notering|noteringar|bemærkninger|noter|beskrivelse|merknader|notat|notater|notatki"
    "|komentarz|komentarze|poznamky|popis|komentar|megjegyzes|megjegyzesek|jegyzet|leiras|huomautus|huomautukset"
    "|muistiinpano|muistiinpanot|kommentti|kommentit|kuvaus|lisatiedot|примечание|заметка|заметки|備考|备注|メモ",
}
#: Headers of parts of a name, used for the name if no other column has it.
PARTS_OF_NAMES = (
    "cultivar|cultivar name|variety|variedad|variete|genus|gattung|art|genre|genero|kultivar|varietat|hybrid|hybride"
)
#: Headers of names; alone in a row above other headers, each is a title.
TITLES = frozenset(("plants", "pflanzen", "plantes", "plantas", "piante", "planten", "rosliny", "vaxter", "kasvit"))
