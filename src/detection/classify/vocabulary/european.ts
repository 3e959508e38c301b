/** Finnish, Hungarian, Estonian, Latvian, Lithuanian, Turkish, Greek, Albanian. */

import type { LanguageWords } from './language-words.ts'

export const european: LanguageWords = {
  terms: {
    us_ssn: {
      likely: `sosiaaliturvatunnus sotu tarsadalombiztositasiszam tajszam sosyalguvenlik sosyalguvenlikno sosyalguvenliknumarasi sgkno
        sotsiaalkindlustusnumber socialinisdraudimas κοινωνικήασφάλιση αριθμόςκοινωνικήςασφάλισης arithmoskoinonikisasfalisis amka αμκα`,
      hint: `henkilotunnus hetu verotunnus adoazonosito adoszam szemelyiszam isikukood personaskods asmenskodas
        kimlikno kimliknumarasi tckimlikno vergino vergikimlikno verginumarasi αφμ afm`,
    },
    email: {
      sure: `sähköposti sähköpostiosoite spostiosoite sposti email-osoite emailosoite meiliosoite
        emailcim emailcím elektronikuscím elektronikuslevélcím drótposta villámposta epost epostiaadress meiliaadress epasts
        epastaadrese elpastas elpaštas elpaštoadresas elektroninispaštas eposta epostaadresi epostaadres elektronikposta
        elektronikpostaadresi mailadresi emailadresi ηλεκτρονικόταχυδρομείο ηλεκτρονικήδιεύθυνση διεύθυνσηemail ηταχυδρομείο
        ilektronikotachydromeio ilektronikodiefthinsi diefthinsiemail imeil ιμέιλ postaelektronike adresaemail`,
      hint: `yhteystieto lähettäjä vastaanottaja käyttäjä käyttäjätunnus kapcsolat feladó címzett felhasználó felhasználónév
        saatja saaja kasutaja sūtītājs saņēmējs siuntėjas gavėjas gönderen alıcı kullanıcı kullanıcıadı iletişim
        αποστολέας παραλήπτης χρήστης επικοινωνία apostoleas paraliptis xristis epikoinonia`,
    },
    credit_card: {
      sure: `luottokortti luottokortinnumero luottokorttinumero maksukortti maksukortinnumero pankkikortti hitelkártya
        hitelkártyaszám bankkártya bankkártyaszám krediitkaart krediitkaardinumber kredītkarte kredītkartesnumurs
        kreditokortelė kredikartı kredikartıno kredikartınumarası kredikart bankakartı πιστωτικήκάρτα
        αριθμόςπιστωτικήςκάρτας pistotikikarta arithmospistotikiskartas kartekrediti`,
      generic: `korttinumero kortinnumero kártyaszám kaardinumber kartesnumurs kortelėsnumeris kartno kartnumarası kartnumara
        αριθμόςκάρτας arithmoskartas`,
      numbered: 'kortti kortin kártya kaardi kartes kortelės kart kartı κάρτα κάρτας kartas',
      hint: 'maksutapa maksuväline fizetés fizetésimód ödeme ödemeyöntemi ödemearacı πληρωμή pliromi hesap',
    },
    phone: {
      sure: `puhelin puhelinnumero puhnro puhno puh matkapuhelin matkapuhelinnumero kännykkä kännykkänumero faksinumero kotipuhelin työpuhelin
        telefonszám telefonszam telszám mobilszám mobiltelefonszám mobiltelefon vezetékestelefon faxszám telefoninumber telefoninr
        mobiilinumber mobiiltelefon telefons tālrunis talrunis tālruņanumurs mobilaistālrunis telefonas telefononumeris telefonas mobilustelefonas
        telefonnumarası telefonnumara telno telefonno ceptelefonu ceptel cepno cepnumarası gsmno gsmnumarası sabittelefon evtelefonu iştelefonu faksno
        τηλέφωνο τηλ τηλεφώνου αριθμόςτηλεφώνου αριθμόςτηλ κινητό κινητότηλέφωνο σταθερό φαξ tilefono tilefwno thlefono thlefwno tilefonou kinito kinhto
        arithmostilefonou stathero numritelefonit telefonimobil`,
      alone: 'mobiili mobiil matkapuh faksi faks faksas celular kännyk',
      likely:
        'soittaja hívószám hívófél hívott arayan arayanno aranan arayannumara helistaja καλών καλούμενος',
      hint: 'yhteystieto kapcsolat kapcsolattartó elérhetőség kontakt iletişim irtibat επικοινωνία epikoinonia saņēmējs alıcı gönderen',
    },
    iban: {
      sure: 'ibannumero ibantilinumero ibanszám ibankód ibannumber ibanno ibannumarası ibankonts ibansąskaita αριθμόςiban ibanτραπέζης',
      hint: `tili tilinumero pankkitili pankkitilinumero saajantili maksajantili számlaszám bankszámla bankszámlaszám számla folyószámla
        arvelduskonto pangakonto kontonumber konts kontanumurs bankaskonts sąskaita sąskaitosnumeris bankosąskaita
        hesap hesapno hesapnumarası bankahesabı bankahesapno banka λογαριασμός αριθμόςλογαριασμού τραπεζικόςλογαριασμός
        logariasmos arithmoslogariasmou trapezikoslogariasmos llogari numrillogarise`,
    },
  },
  roles: `asiakas asiakkaan koti työ yritys työntekijä potilas vuokralainen toimittaja laskutus toimitus hätä vastaanottaja
    ügyfél vevő vásárló otthoni munkahelyi cég munkavállaló alkalmazott beteg bérlő szállító számlázási szállítási sürgősségi
    klient töö kodu ettevõte klients mājas darba klientas namų darbo müşteri firma şirket çalışan personel hasta kiracı
    tedarikçi fatura teslimat acil öğrenci veli kullanıcı sahibi πελάτης πελάτη οικία εργασία εταιρεία υπάλληλος ασθενής
    προμηθευτής pelatis pelati etairia`,
  numbers:
    'numero numeron szám száma numbri numurs numeris numarası numara nosu αριθμός αρ arithmos numri numeras',
  neutral:
    'osoite osoitteet cím címe aadress adrese adresas adresi διεύθυνση diefthinsi adresa és ve ja un ir kai και του της',
  otherContent: `tyyppi tila päivä pvm vahvistettu típus állapot dátum ellenőrzött tüüp olek kuupäev tips statuss datums tipas
    būsena türü tür tipi durum durumu tarih tarihi onaylı doğrulandı sayısı adet τύπος κατάσταση ημερομηνία lukumäärä darab`,
  otherCards:
    'kanta-asiakas kirjasto henkilö ajándék hűség könyvtári személyi sadakat hediye kütüphane kimlik öğrenci üyelik δώρου πίστης ταυτότητας',
}
