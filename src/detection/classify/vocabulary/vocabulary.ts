/** The words of column names that tell a class: those of all languages and products, folded and ready to look up. */

import { classes, type SensitiveClass } from '../../../core/classification.ts'
import { foldLetters } from '../split-words.ts'
import { asian } from './asian.ts'
import { english } from './english.ts'
import { european } from './european.ts'
import type { LanguageWords, TermGrade } from './language-words.ts'
import { products } from './products.ts'
import { slavic } from './slavic.ts'
import { westEuropean } from './west-european.ts'

const languages: readonly LanguageWords[] = [english, westEuropean, european, slavic, asian, products]

function words(text = ''): readonly string[] {
  return foldLetters(text)
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .split(/\s+/)
    .filter((word) => word !== '')
}

function wordsOf(list: Exclude<keyof LanguageWords, 'terms'>): readonly string[] {
  return languages.flatMap((each) => words(each[list]))
}

/** From the weakest, so that a word of two grades has the stronger one. */
const grades = [
  'hint',
  'likely',
  'numbered',
  'alone',
  'generic',
  'sure',
] as const satisfies readonly TermGrade[]

function termsOf(of: SensitiveClass): ReadonlyMap<string, TermGrade> {
  return new Map(
    grades.flatMap((grade) =>
      languages.flatMap(({ terms }) => words(terms[of][grade]).map((word) => [word, grade] as const)),
    ),
  )
}

export const classTerms = Object.fromEntries(classes.map((each) => [each, termsOf(each)])) as Readonly<
  Record<SensitiveClass, ReadonlyMap<string, TermGrade>>
>

export const roles: ReadonlySet<string> = new Set(wordsOf('roles'))
export const numbers: ReadonlySet<string> = new Set(wordsOf('numbers'))
export const neutralWords: ReadonlySet<string> = new Set([...wordsOf('neutral'), ...numbers])

/** Beside a term they make the column something else than the values of the class. */
export const otherContent: Readonly<Record<'anywhere' | 'after' | 'before', ReadonlySet<string>>> = {
  anywhere: new Set(wordsOf('otherContent')),
  // Before a term, most of these are whose it is: `carrier_phone`.
  after: new Set(
    words(`id ids uuid guid name code idx index ref seq size user provider carrier operator issuer holder issuing host
      network app platform city area region country state box server`),
  ),
  before: new Set(words('last4 without non missing')),
}

/** The same, for one class. */
export const otherContentOf: Readonly<Record<SensitiveClass, ReadonlySet<string>>> = {
  us_ssn: new Set(words('benefit benefits income office earnings wages media')),
  email: new Set(words('slot')),
  credit_card: new Set(
    words(`access badge bonus business club graphics green health id ident identity insurance kunden klanten klient medicare
      member memory phone report score scorecard sound student telefon telefono telephone time trading trello video vitale`),
  ),
  phone: new Set(words('device case screen battery accessory accessories tower sector site')),
  iban: new Set(words('bic swift')),
}

const productIdentifiers =
  words(`part partno sku product item catalog catalogue article artikel articulo articolo model
  isbn issn ean gtin upc asin barcode imei imeisv imsi iccid meid esn siret siren tracking waybill awb parcel shipment consignment
  container serial serialno lot batch invoice rechnung facture factura fattura order orderno bestellung bestellnummer auftrag
  commande pedido ordine zamowienie siparis ticket rma ndc vin reservation booking pnr coupon voucher docket`)

/** Cards that pay nothing, or at one shop only. */
const otherCards = wordsOf('otherCards')

/** What is written like an email address and is none, so that beside a weaker term too its values prove nothing. */
export const addressLike: readonly string[] = words(
  'messageid msgid inreplyto threadid jid xmpp kerberos krb spn serviceprincipal clone ssh dsn',
)

/** Identifiers of other kinds whose values can have the form of the class: values alone then prove nothing. */
export const otherIdentifiers: Readonly<Record<SensitiveClass, readonly string[]>> = {
  us_ssn: [
    ...productIdentifiers,
    ...words(`case caseno claim claimno file fileno permit policy policyno contract licence license lease publication component
      assembly drawing material stock spare asset location zone bin shelf ein fein itin atin ptin duns sin nino`),
  ],
  email: [...addressLike, ...words('dependency filename image package purl references remote repo')],
  credit_card: [
    ...productIdentifiers,
    ...otherCards,
    ...words(`siren npi tin abn mpan confirmation receipt po purchaseorder transaction txn trans
    trace stan rrn claim policy contract case`),
  ],
  phone: productIdentifiers,
  iban: words('mandate mandateid creditorid uci'),
}

/** Scripts written without spaces, whose names are cut at the words that are known. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/** Cuts a name of such a script, in the middle or not, at every known word; undefined where none is known. */
export const knownUnspaced = new RegExp(
  `(${[
    ...new Set([
      ...classes.flatMap((each) => [...classTerms[each].keys()]),
      ...[roles, neutralWords, otherContent.anywhere].flatMap((each) => [...each]),
      ...otherCards,
    ]),
  ]
    .filter((word) => unspaced.test(word))
    .toSorted((one, other) => other.length - one.length)
    .join('|')})`,
  'u',
)
