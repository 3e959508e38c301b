/** Words of German, Dutch, the Nordic languages, French, Spanish, Italian, Portuguese, Romanian and Catalan. */

import type { LanguageWords } from './language-words.ts'

export const westEuropean: LanguageWords = {
  roles: `kunde kunden kundin privat privater firma firmen dienst dienstlich geschaeftlich geschaftlich geschaft buro buero
    notfall rechnung rechnungs haupt mitarbeiter lieferanten lieferant lieferung ansprechpartner patienten mieter vermieter
    versicherter versicherungsnehmer antragsteller schuldner glaubiger auftraggeber empfanger absender inhaber arbeitgeber
    fahrer gast gaste besucher bewerber partner zentrale vertrieb einkauf eltern vater mutter
    clientes cliente clienti client clientele utilisateur fournisseur domicile bureau travail personnel personnelle perso pro principal
    salarie employe patiente locataire proprietaire assure adherent abonne eleve etudiant parent mere pere urgence societe
    entreprise livraison facturation acheteur vendeur titulaire debiteur creancier beneficiaire conducteur voyageur
    casa trabajo oficina empresa proveedor empleado paciente inquilino propietario asegurado alumno estudiante
    padre madre tutor emergencia envio facturacion comprador vendedor titular deudor acreedor beneficiario conductor viajero huesped
    particular fijo lavoro ufficio azienda fornitore dipendente paziente inquilino proprietario assicurato studente genitore
    emergenza spedizione fatturazione acquirente venditore titolare debitore creditore autista ospite abitazione fisso
    trabalho fornecedor empregado funcionario paciente inquilino segurado aluno encarregado pai mae emergencia envio
    faturacao comprador vendedor titular devedor credor motorista hospede residencial comercial pessoal
    klant klanten werk thuis prive leverancier bedrijf medewerker werknemer huurder verhuurder verzekerde leerling ouder nood
    levering facturatie koper verkoper houder debiteur crediteur begunstigde chauffeur reiziger gast vast
    kund kunder kundens arbete hem foretag anstalld leverantor patient hyresgast elev foralder faktura leverans mottagare
    arbeid hjem bedrift ansatt leverandor pasient leietaker forelder bedrift arbejde virksomhed medarbejder lejer foraelder
    starfsmadur clientului angajat furnizor pacient chirias facturare livrare serviciu acasa personal urgenta`,
  numbers: `nummer numer numero numeri numeros numeroj num nro nummers numeronr numar numarul numarului nummeret`,
  neutral: `adresse adres adressen direccion indirizzo endereco adresa adress adressa del de della dello delle do da dos das di du des la le les el
    los las der die das den dem van von vom het een en et y e o a al au aux per por para pour fur fuer zur zum til av af fra i lui ului
    haupt principale principal weitere zweite`,
  otherContent: `hashwert prufsumme pruefsumme hachage hache haches empreinte anzahl datum gueltig gultig verifiziert nombre statut valide cantidad fecha estado tipo valido verificado quantita
    data verificata stato quantidade estado aantal soort geverifieerd domaine dominio domein vorwahl
    art gultigkeit ablaufdatum ablauf inhaber anbieter caducidad vencimiento scadenza validade vervaldatum
    antal dato gyldig giltig giltighet utgangsdatum utlopsdato tip expirare valabil`,
}
