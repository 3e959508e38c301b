/** Words of Finnish, Hungarian, Estonian, Latvian, Lithuanian, Turkish, Greek and Albanian. */

import type { LanguageWords } from './language-words.ts'

export const european: LanguageWords = {
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
}
