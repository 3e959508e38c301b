/**
 * The words of column names that tell a class, in English, German, French, Spanish, Italian, Portuguese and Dutch,
 * with a few from their neighbours. Terms are written together, without marks, singular.
 */

import type { SensitiveClass } from '../../core/classification.ts'

/** `sure` by itself; `alone` only with nothing but neutral words and roles beside it, else only with values; `hint` only
 * with values that stand for themselves. */
export type TermGrade = 'sure' | 'alone' | 'hint'

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

function terms(graded: Readonly<Record<TermGrade, string>>): ReadonlyMap<string, TermGrade> {
  return new Map(
    (['hint', 'alone', 'sure'] as const).flatMap((grade) =>
      words(graded[grade]).map((word) => [word, grade] as const),
    ),
  )
}

export const classWords: Readonly<Record<SensitiveClass, ReadonlyMap<string, TermGrade>>> = {
  us_ssn: terms({
    sure: `ssn ssno ssnum ssnnum ssnno ssnnbr ssnumber usssn socsec socsecnum socsecno socsecnbr socialsec socialsecno
      socialsecnum socialsecnbr socialsecurity socialsecuritynumber socialsecuritynum socialsecurityno
      socialsecuritynbr socialsecurityid socialsecuritycode
      sozialversicherungsnummer sozialversicherungsnr sozialversicherung
      numerosecuritesociale numerodesecuritesociale numsecuritesociale nosecuritesociale securitesociale numsecu numerosecu
      segurosocial numerosegurosocial numerodesegurosocial numsegurosocial nroseguro seguridadsocial numeroseguridadsocial
      numerodeseguridadsocial numerodelaseguridadsocial
      previdenzasociale sicurezzasociale numeroprevidenzasociale numerosicurezzasociale numerodisicurezzasociale
      numerodiprevidenzasociale segurancasocial numerosegurancasocial numerodasegurancasocial numerodesegurancasocial
      segurosocialnumero socialezekerheid socialezekerheidsnummer socialeverzekeringsnummer`,
    alone: 'ss',
    hint: 'taxpayerid taxpayeridentificationnumber socialid social',
  }),
  email: terms({
    sure: `email emailaddress emailaddr emailadr emailad emailadress emailadresse eml emailaccount emailcontact
      electronicmail mailaddr mailadresse mailadress mailid smtpaddress smtpaddr
      courriel adressecourriel adresseemail adressemail adressemel adresseelectronique adressedecourriel
      correoelectronico correoe direccionemail direcciondecorreo direccioncorreo direccioncorreoelectronico
      indirizzoemail indirizzomail postaelettronica indirizzopostaelettronica indirizzodipostaelettronica
      enderecoemail enderecodeemail correioeletronico correioelectronico
      mailadres emailadres epost epostadress epostadresse sahkoposti adresemail eposta pocta почта 邮箱 电子邮件 メールアドレス`,
    alone: 'mail correo mel correio',
    hint: `emailid contact contacto contatto kontakt contato contactpoint login loginname username user userid userprincipalname upn
      recipient sender from to cc bcc replyto fromaddress toaddress mailaddress mailto principal account usuario utilisateur
      utente gebruiker benutzer`,
  }),
  credit_card: terms({
    sure: `creditcard creditcardnumber creditcardno creditcardnum creditcardnbr creditcardnr creditcc debitcard debitcardnumber
      debitcardno debitcardnum cardnumber cardno cardnum cardnbr cardnr crdno crdnbr crdnum ccnumber ccnum ccno ccnbr ccn
      paymentcard paymentcardnumber bankcard bankcardnumber cardpan pan primaryaccountnumber
      kreditkarte kreditkartennummer kreditkartenummer kreditkartennr kartennummer kartennr kartenummer
      cartebancaire cartecredit cartedecredit numerocarte numerodecarte numcarte nocarte numerocartebancaire
      numerodecartebancaire numerocartecredit numerocartedecredit numcartebancaire
      tarjetacredito tarjetadecredito tarjetadebito numerotarjeta numerodetarjeta numtarjeta nrotarjeta notarjeta
      numerotarjetacredito numerotarjetadecredito numerodetarjetadecredito
      cartacredito cartadicredito numerocarta numerodicarta numcarta numerocartacredito numerocartadicredito
      numerodicartadicredito numerodellacarta
      cartaocredito cartaodecredito numerocartao numerodocartao numcartao nrcartao numerocartaocredito
      numerocartaodecredito numerodocartaodecredito
      kaartnummer kaartnr creditcardnummer creditkaart creditkaartnummer kredietkaart kredietkaartnummer betaalkaartnummer
      kortnummer kreditkort`,
    alone: '',
    hint: 'card cc karte carte carta cartao tarjeta kaart visa mastercard amex paymentinstrument paymentaccount',
  }),
  phone: terms({
    sure: `phone phonenumber phoneno phonenum phonenbr phonenr phn phnno phnnum phnnbr phnumber phnum telephone
      telephonenumber telephoneno telephonenum telnumber telno telnum telnbr telnr telenumber mobilenumber mobileno mobilenum
      mobilenbr mobilenr mobilephone mobilephonenumber mobilephoneno cellphone cellphonenumber cellphoneno cellnumber
      cellno cellnum mobno mobnum homephone workphone faxnumber faxno faxnum faxnbr faxnr msisdn landline phonefax
      contactphone contactphonenumber contactnumber contactno whatsappnumber callbacknumber callbackphone phonee164 e164
      telefon telefonnummer telefonnr telefonnumer telnummer rufnummer handynummer handynr mobilnummer mobilfunknummer mobiltelefon
      mobilfunk festnetz festnetznummer telefaxnummer faxnummer
      numerotelephone numerodetelephone numtelephone numtel telportable telephoneportable telephonemobile telfixe
      telephonefixe numeroportable numerodeportable numerodefax
      telefono numerotelefono numerodetelefono telefonofijo telefonomovil telefonocelular numerocelular numeromovil
      numerodecelular numerodemovil nrotelefono numtelefono tfno tlf
      cellulare numerocellulare numerodicellulare numeroditelefono telefonocellulare recapitotelefonico
      telefone numerotelefone numerodetelefone telefonecelular telemovel numerotelemovel numerodotelefone numerodocelular
      telefoonnummer telefoon telefoonnr mobielnummer gsmnummer faxnummer mobielenummer
      telefonszam puhelin puhelinnumero телефон 电话 手机 手机号 手机号码 電話番号`,
    alone: `tel cell mobile mobil fax telefax telf handy movil celular portable mobiel gsm mob telfax`,
    hint: `contact contacto contatto kontakt contato contactpoint whatsapp sms caller callee callernumber calledparty callingparty
      ani dnis hotline pager voice festnetz fixe callerid callingnumber callednumber recapito`,
  }),
  iban: terms({
    sure: `iban ibannumber ibannum ibanno ibannbr ibannr ibancode ibanaccount ibanaccountnumber accountiban
      internationalbankaccountnumber internationalbankaccount ibannummer kontoiban ibankonto internationalebankkontonummer
      numeroiban codeiban codigoiban codiceiban ibanrekening ibanrekeningnummer cuentaiban compteiban contoiban`,
    alone: 'internationalaccountnumber',
    hint: `account accountnumber accountno accountnum accountnbr accnumber accno acctno acctnum acct acctnbr bankaccount bankaccountnumber bankaccountno
      beneficiaryaccount payoutaccount settlementaccount
      konto kontonummer kontonr bankkonto bankverbindung bankkontonummer
      compte numerocompte numerodecompte comptebancaire numcompte rib coordonneesbancaires
      cuenta numerocuenta numerodecuenta cuentabancaria numcuenta
      conto numeroconto contocorrente contobancario numerodiconto coordinatebancarie
      conta numeroconta contabancaria numerodaconta
      rekening rekeningnummer bankrekening bankrekeningnummer rekeningnr`,
  }),
}

/** Whom or what of: says nothing about the content. Written together with a `sure` term they still make one. */
export const roles: ReadonlySet<string> = new Set(
  words(`user usr customer cust client contact member employee emp staff owner vendor supplier seller buyer merchant
    patient student guest visitor driver agent manager admin applicant candidate tenant borrower debtor creditor
    beneficiary payer payee sender recipient shipper consignee home work office business biz company corporate private
    personal primary secondary alternate alternative alt main other backup emergency billing bill shipping ship delivery
    mobile cell landline day daytime night evening current old new prev previous default preferred
    kunde kunden privat privater firma firmen dienst dienstlich geschaeftlich geschaftlich buro buero notfall rechnung
    rechnungs haupt mitarbeiter lieferanten
    clientes cliente clienti utilisateur fournisseur domicile bureau travail personnel personnelle perso pro principal
    casa trabajo oficina empresa proveedor lavoro ufficio azienda fornitore trabalho fornecedor
    klant klanten werk thuis prive leverancier bedrijf`),
)

/** Of a name's parts, those that leave its meaning to the words beside them. */
export const neutralWords: ReadonlySet<string> = new Set(
  words(`element item list entry array key value val values number num no nr nbr numero nummer address addr adresse
    direccion indirizzo endereco adres raw clean cleaned normalized normalised formatted full text txt str string col
    column field attr attribute data info detail details primary secondary main the of de del della do da di du des la le
    el der die das van x f c`),
)

/** Beside a term they make the column something else than the values of the class. */
export const otherContent: Readonly<Record<'anywhere' | 'after' | 'before', ReadonlySet<string>>> = {
  anywhere: new Set(
    words(`hash hashed hsh sha sha1 sha256 sha512 md5 hmac digest token tokens tokenized tokenised masked mask redacted encrypted
      cipher ciphertext anonymized anonymised pseudonym fingerprint surrogate
      domain provider template subject body campaign newsletter verified verify verification valid validated validation
      validity invalid confirmed confirmation optin optout opt consent permission subscribed unsubscribed subscription
      flag flg ind indicator is has count cnt counts total sum avg qty quantity rate ratio pct percent score rank sent
      opened opens clicked clicks bounced bounces delivered date at time timestamp ts datetime day month year hour
      type typ kind category brand network issuer issuing status state preference preferences pref enabled disabled
      country area region model os version app platform browser plan price cost amount amt fee revenue balance limit
      expiry expiration expires exp cvv cvc holder length len format error message msg reason method carrier operator
      extension ext prefix suffix source channel language lang locale timezone duration minutes seconds calls
      attempts attempt retries visits sessions users traffic impressions conversion
      city zip postcode postal street box server host port folder queue class thread
      anzahl datum gueltig gultig verifiziert nombre statut valide cantidad fecha estado tipo valido verificado quantita
      data verificata stato quantidade estado aantal soort geverifieerd domaine dominio domein vorwahl`),
  ),
  after: new Set(words('id ids uuid guid name code idx index ref seq size user')),
  before: new Set(words('last4 no without non missing')),
}

/** The same, for one class. */
export const otherContentOf: Readonly<Record<SensitiveClass, ReadonlySet<string>>> = {
  us_ssn: new Set(words('benefit benefits income office earnings wages media')),
  email: new Set(words('slot')),
  credit_card: new Set(
    words(`loyalty gift member membership library sim access badge rewards reward points bonus report graphics video
      sound green medicare insurance health student fidelity fidelite fidelidad fidelidade fedelta vitale identite
      identity identidad identita identidade ident kunden klanten club punch time business score trello kanban trading
      stored voucher coupon transit travel parking fuel telefon phone memory`),
  ),
  phone: new Set(words('device case screen battery accessory accessories tower sector site')),
  iban: new Set(words('bic swift')),
}

const productIdentifiers =
  words(`part partno sku product item catalog catalogue article artikel articulo articolo
  isbn issn ean gtin upc asin barcode imei imsi iccid meid siret siren tracking waybill awb parcel shipment serial
  lot batch invoice order orderno ticket rma ndc`)

/** Identifiers of other kinds whose values can have the form of the class: values alone then prove nothing. */
export const otherIdentifiers: Readonly<Record<SensitiveClass, readonly string[]>> = {
  us_ssn: productIdentifiers,
  email: words('messageid msgid jid xmpp package dependency purl repo remote'),
  credit_card: productIdentifiers,
  phone: productIdentifiers,
  iban: [],
}
