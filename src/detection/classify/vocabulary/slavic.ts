/** Polish, Czech, Slovak, Croatian, Serbian, Slovene; Russian, Ukrainian, Bulgarian in their script and in Latin. */

import type { LanguageWords } from './language-words.ts'

export const slavic: LanguageWords = {
  terms: {
    us_ssn: {
      likely: `numerubezpieczenia numerubezpieczeniaspołecznego ubezpieczeniespołeczne nrubezpieczenia socialnípojištění číslosociálníhopojištění
        číslosociálníhozabezpečení sociálnezabezpečenie číslosociálnehopoistenia brojsocijalnogosiguranja socijalnoosiguranje
        номерсоциальногострахования социальноестрахование номерсоциальногообеспечения номерсоцстрахования снилс snils
        nomersocstrahovaniya nomersotsialnogostrahovaniya номерсоціальногострахування соціальнестрахування
        социалнаосигуровка`,
      hint: `pesel nip dowódosobisty rodnéčíslo rodnecislo oib jmbg emšo инн inn рнокпп ипн егн egn`,
    },
    email: {
      sure: `adresemail adresmail adresemailowy mailowy adresmailowy pocztaelektroniczna adrespocztyelektronicznej adrespoczty skrzynkamailowa
        epošta epostaadresa emailadresa mailováadresa emailováadresa elektronickápošta elektronickáadresa adresaelektronicképošty
        elektroničkapošta elektronskapošta elpošta epoštanaslov adresaepošte mejl имейл имейладрес емейл мейл мэйл емаил
        электроннаяпочта адресэлектроннойпочты эпочта элпочта почтовыйящик электронныйадрес elektronnayapochta
        elektronnajapochta elpochta pochta електроннапошта адресаелектронноїпошти електроннаадреса електроненадрес електроннапоща
        елпошта имэйл elposhta elektronnaposhta`,
      alone: 'почта пошта поща poczta mailová pošta',
      hint: `nadawca odbiorca użytkownik nazwaużytkownika kontakt osobakontaktowa login odesílatel příjemce uživatel odosielateľ príjemca
        používateľ pošiljatelj primatelj korisnik korisničkoime prejemnik uporabnik отправитель получатель пользователь логин
        контакт контакты otpravitel poluchatel polzovatel kontakty відправник отримувач користувач логін подател потребител`,
    },
    credit_card: {
      sure: `kartakredytowa numerkartykredytowej nrkartykredytowej kartapłatnicza numerkartypłatniczej kartadebetowa
        kartabankowa kreditníkarta číslokreditníkarty platebníkarta čísloplatebníkarty debetníkarta kreditnákarta
        číslokreditnejkarty platobnákarta čísloplatobnejkarty kreditnakartica brojkreditnekartice bankovnakartica
        številkakreditnekartice кредитнаякарта номеркредитнойкарты банковскаякарта номербанковскойкарты платежнаякарта
        kreditnayakarta nomerkreditnoykarty bankovskayakarta nomerkreditnojkarty кредитнакартка кредитнакарта
        номеркредитноїкартки банківськакартка`,
      generic: `numerkarty nrkarty číslokarty brojkartice številkakartice номеркарты nomerkarty номеркартки номернакарта
        nomerkartki`,
      numbered:
        'karta karty kartę kartica kartice карта карты карточка карточки карти картка картки kartki kartochki',
      hint: `płatność metodapłatności sposóbpłatności platba způsobplatby plaćanje платеж оплата способоплаты oplata platezh спосібоплати
        плащане konto rachunek`,
    },
    phone: {
      sure: `telefon telefonu numertelefonu nrtelefonu nrtel numertel telkomórkowy telefonkomórkowy numerkomórki numerkomórkowy
        nrkomórki komórka komórkowy telstacjonarny telefonstacjonarny telefonkontaktowy numerkontaktowy numerfaksu nrfaksu telefony
        telefonníčíslo telefonnicislo číslotelefonu čtelefonu mobilnítelefon číslomobilu mobilníčíslo pevnálinka telefónnečíslo
        číslotelefónu telefón mobilnýtelefón mobilnéčíslo číslomobil brojtelefona telefonskibroj mobitel brojmobitela mobilnitelefon
        brojmobilnog telefonskaštevilka mobilnaštevilka telefonska gsmbroj
        телефон телефона телефоны тел номертелефона мобильный мобильныйтелефон номермобильного сотовый сотовыйтелефон
        контактныйтелефон домашнийтелефон рабочийтелефон телефакс факс
        telefony telefonniy nomertelefona nomertel mobilniytelefon mobilnyjtelefon sotovyi sotovyj sotoviytelefon kontaktnyitelefon kontaktnyytelefon
        номертелефону мобільний мобільнийтелефон номермобільного телефонен телефоненномер мобилен мобилентелефон
        telefonennomer мобілка`,
      alone: 'mobil mobilní mobilný mobilni mobilny mobilniy mobilnyi komórk моб faks',
      likely: `dzwoniący numerdzwoniącego volající volajúci volanéčíslo pozivatelj звонящий номерзвонящего абонент номерабонента
        вызывающий вызываемый abonent nomerabonenta абонентномер`,
      hint: `kontakt kontaktowy osobakontaktowa kontaktní контакт контакты контактный kontaktnyy связь whatsapp вайбер viber телеграм`,
    },
    iban: {
      sure: 'numeriban nriban kodiban kontoiban ibankod čísloiban ibančíslo ibanúčet ibanbroj brojiban номерiban кодiban ибан рахунокiban ibanсметка',
      hint: `konto rachunek rachunekbankowy numerrachunku nrrachunku numerrachunkubankowego nrkonta numerkonta kontobankowe nrb
        účet čísloúčtu bankovníúčet číslobankovníhoúčtu bankovýúčet račun brojračuna bankovniračun tekućiračun žiroračun
        bančniračun transakcijskiračun številkaračuna счет счёт номерсчета расчетныйсчет банковскийсчет лицевойсчет schet
        nomerscheta raschetnyischet рахунок номеррахунку банківськийрахунок сметка банковасметка номернасметка сметкаiban
        rahunok smetka beneficjent przelew`,
    },
  },
  roles: `klient klienta klienci klientów dom domowy praca służbowy firma firmowy prywatny pracownik pracownika pacjent pacjenta najemca
    dostawca dostawcy dostawa faktura uczeń rodzic odbiorca nadawca główny alarmowy zákazník zákazníka domácí práce pracovní firemní soukromý
    zaměstnanec zaměstnance pacienta nájemce dodavatel dodavatele fakturační doručovací nouzový rodič žák zákazníck dodávateľ zamestnanec
    práca kupac kupca zaposlenik poslodavac pacijent dobavljač stranka kontaktna kontaktní
    клиент клиента клиенты дом домашний рабочий личный сотрудник сотрудника пациент пациента поставщик поставщика компания
    покупатель покупателя заказчик заказчика владелец владельца родитель клієнт клієнта домашній робочий працівник
    постачальник klienta sotrudnik sotrudnika pokupatel zakazchik domashniy domashnij rabochiy rabochij служител пациентов доставчик`,
  numbers: 'numer nr číslo cislo č broj številka номер номера № nomer nomera',
  neutral: 'adres adresy adresa adresu naslov адрес адреса адресу i и na на do dla pro pre za для',
  otherContent: `typ rodzaj status data zweryfikowany liczba ilość ważność datum platnost stav ověřen počet overený vrsta datumvažnosti
    тип статус дата подтвержден количество срок tip status kolichestvo srok вид кількість строк дійсна потвърден брой`,
  otherCards:
    'lojalnościowa podarunkowa biblioteczna stałego dowodu věrnostní dárková knihovní občanská občanský vernostná darčeková vjernosti poklon бонусная подарочная скидочная лояльности бонусна подарункова bonusnaya skidochnaya podarochnaya',
}
