/** German, Dutch and the Nordic languages; French, Spanish, Italian, Portuguese, Romanian and Catalan. */

import type { LanguageWords } from './language-words.ts'

export const westEuropean: LanguageWords = {
  terms: {
    us_ssn: {
      sure: `sozialversicherungsnummer sozialversicherungsnr sozialversicherung
        numerosecuritesociale numerodesecuritesociale numsecuritesociale nosecuritesociale securitesociale numsecu numerosecu
        segurosocial numerosegurosocial numerodesegurosocial numsegurosocial nroseguro seguridadsocial numeroseguridadsocial
        numerodeseguridadsocial numerodelaseguridadsocial
        previdenzasociale sicurezzasociale numeroprevidenzasociale numerosicurezzasociale numerodisicurezzasociale
        numerodiprevidenzasociale segurancasocial numerosegurancasocial numerodasegurancasocial numerodesegurancasocial
        segurosocialnumero socialezekerheid socialezekerheidsnummer socialeverzekeringsnummer`,
      likely: `sozialversicherungsnumer svnummer svnr svnumer rvnummer usasozialversicherungsnummer
        nss numss nosecu numerosecurite numsecsociale secsociale seguridadsoc segsocial segsoc numsegsocial niss numsegsoc
        assicurazionesociale seguretatsocial numerosegurantasocial asigurarisociale numarasigurarisociale securitatesociala
        numarsecuritatesociala socialforsikringsnummer socialsakringsnummer socialforsakringsnummer trygdenummer sofinummer
        sociaalzekerheidsnummer rijksregisternummer`,
      hint: `steuernummer steuernr steuerid steueridentifikationsnummer identifikationsnummer ausweisnummer personalausweis personennummer
        numerofiscal numerofiscale identifiantfiscal nif numerocontribuyente identificacionfiscal idfiscal codigofiscal
        codicefiscale codfiscale cedula dni cpf contribuinte numerodecontribuinte numeroidentidad documentoidentidad
        numerodocumento identificacion documento identifiantnational fiscaalnummer belastingnummer
        burgerservicenummer bsn personnummer fodselsnummer cprnummer cnp codnumericpersonal codfiscal kennitala`,
    },
    email: {
      sure: `mailadresse mailadress emailkontakt ekontakt epost epostadress epostadresse epostkonto mejl mejladress mailkonto
        emailkonto elektronischepost epostnr netpost tolvupostur netfang
        courriel courrielle adressecourriel adresseemail adressemail adressemel adresseelectronique adressedecourriel
        courrierelectronique courrierel adressemessagerie messagerieelectronique
        correoelectronico correoe correoelec correoelect correoelectr correos direccionemail direcciondecorreo direccioncorreo
        direccioncorreoelectronico direcciondecorreoelectronico direccionelectronica correuelectronic
        indirizzoemail indirizzomail indirizzoelettronico postaelettronica indirizzopostaelettronica indirizzodipostaelettronica
        enderecoemail enderecodeemail enderecoeletronico correioeletronico correioelectronico enderecodecorreioeletronico
        mailadres emailadres emailadress emailadressen elektronischepostadres adresaemail adresademail adresadeemail
        postaelectronica adresaelectronica adresapostaelectronica adresadepostaelectronica`,
      alone: 'correo pec mel correio correu',
      hint: `kontakt kontakte kontaktadresse ansprechpartner empfanger empfaenger absender benutzer benutzername
        benutzerkennung anmeldename nutzer nutzername konto verfasser ersteller erstelltvon geandertvon antwortan kopie
        destinataire expediteur utilisateur identifiant compte auteur repondrea copie connexion
        contacto remitente destinatario usuario nombreusuario cuenta autor responder copia
        contatto mittente utente nomeutente autore rispondia conta contato remetente utilizador nomeusuario
        gebruiker gebruikersnaam afzender ontvanger contactpersoon inlog anvandare anvandarnamn avsandare mottagare bruker
        brukernavn avsender mottaker modtager afsender bruger brugernavn kontaktperson utilizator expeditor`,
    },
    credit_card: {
      sure: `kreditkarte kreditkartennummer kreditkartenummer kreditkartennr kreditkartenr kreditkartennum kkartennr
        kknummer kknr debitkarte bankkarte zahlungskarte zahlkarte zahlkartennummer cartebancaire cartecredit
        cartedecredit cartedebit cartedepaiement cartepaiement cartebleue nocb numcb numerocb numerocartebancaire
        numerodecartebancaire numerocartecredit numerocartedecredit numcartebancaire tarjetacredito tarjetadecredito
        tarjetadebito tarjetadedebito tarjetabancaria tarjetapago numerotarjetacredito numerotarjetadecredito
        numerodetarjetadecredito cartacredito cartadicredito cartadebito cartadidebito cartapagamento cartadipagamento
        numerocartacredito numerocartadicredito numerodicartadicredito cartaocredito cartaodecredito cartaodebito
        cartaodedebito numerocartaocredito numerocartaodecredito numerodocartaodecredito creditcardnummer creditkaart
        creditkaartnummer kredietkaart kredietkaartnummer kreditkort kreditkortnummer kreditkortsnummer kredittkort
        kredittkortnummer betalkort betalkortsnummer betalingskort betalingskortnummer betalingskortnr bankkort
        bankkortnummer debetkort dankort dankortnummer greidslukort carddecredit numarcarddecredit carddebit
        carddedebit cardbancar targetacredit targetadecredit`,
      generic: `kartennummer kartennr kartenummer kartenr numerocarte numerodecarte numcarte nocarte numerotarjeta
        numerodetarjeta numtarjeta nrotarjeta notarjeta tarjetanumero numerocarta numerodicarta numcarta
        numerodellacarta numerocartao numerodocartao numcartao nrcartao kaartnummer kaartnr betaalkaart
        betaalkaartnummer betaalpas pasnummer kortnummer kortnr numarcard nrcard numarulcardului`,
      numbered: 'karte karten kkarte carte carta cartao tarjeta targeta kaart kort cardul cardului',
      hint: `kk eckarte kartenzahlung tdc nrotdc numtdc tarj nrotarj tarjnum tarjcred tcredito tdd cartedepaiment zahlungsmittel zahlungsart zahlung zahlungsmethode konto kontonummer moyenpaiement moyendepaiement paiement compte reglement
        mediopago mediodepago formapago formadepago pago cuenta metodopago metododepago pagamento metodopagamento metododipagamento mezzodipagamento
        conto formapagamento formadepagamento meiodepagamento pagamentocartao conta betaling betaalmiddel betaalmethode betaalwijze
        betalning betalningsmetod betalningsmedel betalingsmiddel betalingsmate plata cb eckarte girocard mastercarta`,
    },
    phone: {
      sure: `telefon telefonnummer telefonnr telefonnumer telefonnum telefonno telefonnumr telnummer telnumer rufnummer rufnr durchwahlnummer handynummer
        handynr mobilnummer mobilnr mobilfunknummer mobilfunknr mobilrufnummer mobiltelefon mobilfunk festnetz festnetznummer festnetznr telefaxnummer
        telefaxnr faxnummer ruckrufnummer rueckrufnummer telefonkontakt fernsprecher notfallnummer notrufnummer kontaktnummer servicenummer
        numerotelephone numerodetelephone numtelephone numtel notel nodetelephone notelephone nrtel telportable telephoneportable
        telephonemobile telfixe telephonefixe telmobile teldomicile telbureau numeroportable numerodeportable numerodefax numfax
        numerofax numeromobile numerodemobile numerofixe numerotel numportable numerogsm numgsm
        telefono numerotelefono numerodetelefono telefonofijo telefonomovil telefonocelular numerocelular numeromovil
        numerodecelular numerodemovil nrotelefono numtelefono nrocelular nrotel nrocel numcelular numcel numerocontacto numerodecontacto tfno tlfno tlf tlfn
        tfnofijo telmovil telcelular telcasa teltrabajo teloficina celularno numeroderecado
        cellulare numerocellulare numerodicellulare numeroditelefono telefonocellulare recapitotelefonico recapitotel
        numtelefono numerotelefonico numcellulare numcell telefonofisso numerofisso utenzatelefonica 
        telefone numerotelefone numerodetelefone telefonecelular telemovel numerotelemovel numerodotelefone numerodocelular
        numerodetelemovel numerodotelemovel fone foneresidencial fonecelular telefonefixo contatotelefonico contactotelefonico numerocontato numerodecontato
        telefoonnummer telefoon telefoonnr telefoonnum mobielnummer mobielnr gsmnummer gsmnr faxnummer mobielenummer vastnummer vastenummer
        mobieltelefoonnummer telefoonmobiel telefoonvast telefoonthuis
        telefonsnummer telefonnumero mobiltelefonnummer mobilnummer mobiltlf tlfnr tlfnummer tlfmobil mobiltlfnr simanumer farsimi
        telefonul numartelefon nrtelefon numardetelefon telefonmobil telefonfix numarmobil telefonmobilul numarfax simi telefons telefonmobilnummer`,
      alone: `handy mobil movil celular portable mobiel gsm fax`,
      likely: `rufende anrufer anrufernummer angerufener arufnummer brufnummer appelant numeroappelant appele numeroappele
        numappelant llamante numerollamante numerollamado llamado chiamante numerochiamante chiamato numerochiamato beller
        bellernummer uppringare oppringer appelantnumero numerodestino numeroorigen numeroorigem whatsappnummer recado hemnummer
        privatnummer geschaftsnummer urgence numerourgence numerodeemergencia numeroemergencia noodnummer`,
      hint: `fixe festnetz kontakt kontakte kontaktdaten ansprechpartner festnetzanschluss anschluss ruckruf rueckruf notfall notfallkontakt
        contacto contatto contato recapito recapiti coordonnees joindre urgences emergencia emergencias emergenza noodcontact
        contactpersoon kontaktperson kontaktuppgift naruhorige uppringd empfanger absender destinataire destinatario remitente remetente`,
    },
    iban: {
      sure: `ibannummer kontoiban ibankonto internationalebankkontonummer internationalebankrekeningnummer
        numeroiban numiban noiban codeiban codigoiban codiceiban coordiban ibanrekening ibanrekeningnummer cuentaiban compteiban contoiban
        contaiban ibancompte ibancuenta ibanconto ibanconta codiban numariban nriban ibannumero ibancliente ibankode ibanco`,
      hint: `kto ktonr ktonum ktnr bankkto rek reknr gironummer ctacte ctacorriente cuentacorriente numcuentacorriente ncompte cptbancaire cpte cptebancaire numcpte
        conticorrenti ccbancario konto kontonummer kontonr kontonum kontoverbindung bankkonto bankverbindung bankkontonummer bankkontonr kontoinhaber
        girokonto gehaltskonto zahlungskonto referenzkonto gegenkonto auftraggeberkonto empfangerkonto empfaengerkonto
        zahlungsempfanger lastschrift lastschriftkonto uberweisung auszahlung auszahlungskonto erstattungskonto bankdaten
        compte numerocompte numerodecompte comptebancaire comptebeneficiaire numcompte nocompte numerocomptebancaire rib
        ribiban coordonneesbancaires coordbancaires comptedonneur comptecredit comptedebit virement versement banque prelevement beneficiaire
        cuenta numerocuenta numerodecuenta cuentabancaria numcuenta nrocuenta ctabancaria cta ctabanco ccc cuentabanco
        cuentacargo cuentaabono cuentadestino cuentaorigen domiciliacion transferencia banco datosbancarios beneficiario
        conto numeroconto contocorrente contobancario numerodiconto coordinatebancarie numcc bonifico accredito addebito beneficiario
        conta numeroconta contabancaria numerodaconta numerodeconta contacorrente nib dadosbancarios contadestino debitodireto
        rekening rekeningnummer bankrekening bankrekeningnummer rekeningnr tegenrekening rekeninghouder incasso begunstigde
        bankkontonummer bankgiro plusgiro kontonumer utbetalningskonto lonekonto lonnskonto lonkonto kontonumero reikningur bankareikningur
        cont contbancar numarcont nrcont contulbancar compte comptebancari virament`,
    },
  },
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
  otherContent: `anzahl datum gueltig gultig verifiziert nombre statut valide cantidad fecha estado tipo valido verificado quantita
    data verificata stato quantidade estado aantal soort geverifieerd domaine dominio domein vorwahl
    art gultigkeit ablaufdatum ablauf inhaber anbieter caducidad vencimiento scadenza validade vervaldatum
    antal dato gyldig giltig giltighet utgangsdatum utlopsdato tip expirare valabil`,
  otherCards: `fidelite fidelidad fidelidade fedelta fidelitate identite identidad identita identidade kundenkarte klantenkaart
    treue bonuskarte geschenk geschenkkarte cadeau regalo presente presentkort gavekort bibliotheque biblioteca bibliothek
    bibliotheek lojalitet medlemskort membre socio tessera grise sejour sanitaria gesundheitskarte ausweis krankenkasse`,
}
