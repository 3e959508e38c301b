/** Words of Polish, Czech, Slovak, Croatian, Serbian, Slovene, and Russian, Ukrainian, Bulgarian in both scripts. */

import type { LanguageWords } from './language-words.ts'

export const slavic: LanguageWords = {
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
}
