import { describe, expect, test } from 'bun:test'
import { classes, type SensitiveClass } from '../../../src/core/classification.ts'
import { readNameSignals } from '../../../src/detection/classify/names.ts'
import { splitWords } from '../../../src/detection/classify/split-words.ts'

describe('a name is cut into words', () => {
  test.each([
    ['billingCardNo2', ['billing', 'card', 'no', '2']],
    ['IBANCode', ['iban', 'code']],
    ['customer_SSN', ['customer', 'ssn']],
    ['Téléphone-Client', ['telephone', 'client']],
    ['STRASSE_ß', ['strasse', 'ss']],
    ['  e.Mail ', ['e', 'mail']],
    ['phone_two', ['phone', '2']],
    ['___', []],
    ['电话', ['电话']],
  ])('%s', (name, words) => expect(splitWords(name)).toEqual(words))
})

const sure: Readonly<Record<SensitiveClass, string>> = {
  us_ssn:
    'ssn SSN customerSSN social_security_number SocSecNbr numeroSeguroSocial numero_securite_sociale Sozialversicherungsnummer persons.element.ssn',
  email:
    'email e_mail E-Mail EMAIL_ADDR userEmail useremail workemail2 correo_electronico adresseEmail courriel Emailadresse indirizzo_email enderecoEmail emailadres emails.element contact.email.value',
  credit_card:
    'card_number creditCardNo CCNBR credit_card pan Kreditkartennummer numeroCarte numero_tarjeta carta_di_credito numero_do_cartao kaartnummer',
  phone:
    'phone phoneNumber TEL_NO mobile customerMobile cellphone fax_number Telefonnummer Kundentelefon telefonPrivat numero_telephone teléfono cellulare telemovel telefoonnummer phones.element.number',
  iban: 'iban IBANs iban_no bankIban codice_iban numeroIban ibanNummer creditor.iban',
}

describe('a name says its class', () => {
  test.each(classes.flatMap((each) => sure[each].split(' ').map((name) => [each, name] as const)))(
    '%s: %s',
    (each, name) => {
      const signals = readNameSignals(name)
      expect(signals[each]).toBe('sure')
      for (const other of classes) if (other !== each) expect(signals[other]).not.toBe('sure')
    },
  )
})

describe('a name that only looks like it says none', () => {
  const names = `email_hash hashed_email email_domain emails_sent is_email_valid email_opt_in phone_type phone_id phoneModel
    phone_country_code card_last4 last_4_ssn ssnLastFour card_brand creditCardExpiry loyalty_card_number gift_card_no ssn_verified iban_country
    mobile_sessions headphone microphone issn session panel expansion urban cardinality scorecard telemetry emailer hotel`
  test.each(names.split(/\s+/))('%s', (name) => {
    for (const each of classes) expect(readNameSignals(name)[each]).not.toBe('sure')
  })
})

test('names of other languages say their class, in their script and in capitals', () => {
  const names = {
    phone:
      '電話番号 휴대폰번호 联系电话 номер_телефона NUMER_TELEFONU sähköpuhelin.puhelin ΤΗΛΈΦΩΝΟ no_hp số_điện_thoại',
    email: 'メールアドレス 이메일 邮箱地址 электронная_почта Sähköposti ηλεκτρονικό_ταχυδρομείο e_posta',
    credit_card:
      'クレジットカード番号 신용카드번호 信用卡号 номер_карты numer_karty kart_no číslo_karty KREDİ_KARTI_NUMARASI',
  } as const
  for (const [each, written] of Object.entries(names))
    for (const name of written.split(' '))
      expect([name, readNameSignals(name)[each as SensitiveClass]]).toEqual([name, 'sure'])
})

test('what stands inside a word, above it in the path, or beside a word that takes it back is a hint', () => {
  for (const name of ['pemail', 'email_hash', 'email.seen', 'customer', 'replyTo'])
    expect([name, readNameSignals(name).email]).toEqual([name, 'hint'])
  for (const name of ['stored_card_no', 'card', 'form_of_payment', 'credit_card_id'])
    expect([name, readNameSignals(name).credit_card]).toEqual([name, 'hint'])
})

test('letters inside the word of another identifier hint at nothing', () => {
  for (const name of ['parcelnumber', 'ParcelNumber', 'tracking_parcelno'])
    expect([name, readNameSignals(name).phone]).not.toEqual([name, 'hint'])
})

test('a card that pays nothing and an address that is none are other identifiers', () => {
  for (const name of ['loyalty_card_number', 'libraryCardNo', 'card_order_no'])
    expect([name, readNameSignals(name).credit_card]).toEqual([name, 'contradicted'])
  for (const name of ['email_message_id', 'kerberos_principal', 'in_reply_to'])
    expect([name, readNameSignals(name).email]).toEqual([name, 'contradicted'])
  expect(readNameSignals('order_contact').email).toBe('hint')
})

test('some words need values beside them', () => {
  expect(readNameSignals('account_number').iban).toBe('hint')
  expect(readNameSignals('contact')).toMatchObject({ phone: 'hint', email: 'hint' })
  expect(readNameSignals('mobile_channels').phone).toBe('likely')
})

test('the name of another identifier speaks against values that have the form by chance', () => {
  expect(readNameSignals('part_no').us_ssn).toBe('contradicted')
  expect(readNameSignals('deviceImei').credit_card).toBe('contradicted')
  expect(readNameSignals('message_id').email).toBe('contradicted')
})

test('hostile names are read all the same', () => {
  for (const name of [
    '',
    '.',
    '....',
    'a'.repeat(100_000),
    'aB'.repeat(50_000),
    'x.'.repeat(50_000),
    '\u0301'.repeat(10_000),
    '\ud800',
    '__proto__',
    'email_'.repeat(10_000),
  ])
    expect(Object.keys(readNameSignals(name)).toSorted()).toEqual([...classes].toSorted())
})

describe('the hash of a value is read alike, however it is called', () => {
  const plainNames: Readonly<Record<SensitiveClass, string>> = {
    us_ssn: 'ssn',
    email: 'email',
    credit_card: 'card_number',
    phone: 'phone',
    iban: 'iban',
  }
  const hashes =
    `hash md5 MD5 sha1 sha_1 sha256 SHA-256 sha2 sha3_256 sha512 hmac_sha256 ripemd160 blake2b blake3 crc32 xxhash64 xxh3
    murmur3 fnv1a siphash bcrypt argon2 pbkdf2 checksum digest md5_hex sha256_salted hashed`.split(/\s+/)
  test.each(classes)('%s', (each) => {
    const name = plainNames[each]
    const expected = readNameSignals(`${name}_hash`)[each]
    expect(expected).toBe('hint')
    for (const hash of hashes)
      for (const written of [`${name}_${hash}`, `${hash}_${name}`, `customer_${name}_${hash}_value`])
        expect([written, readNameSignals(written)[each]]).toEqual([written, expected])
  })

  test('and a number behind a name still leaves it the class', () => {
    expect(readNameSignals('email_2').email).toBe('sure')
    expect(readNameSignals('phone_5').phone).toBe('sure')
  })
})
