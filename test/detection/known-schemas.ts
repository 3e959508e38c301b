/**
 * Labelled columns for the classifiers, written independently of the benchmark's tables. Their names are those of
 * well-known products and public data sets. Their values are made in another way and have other faults.
 */

import type { LabelledColumn } from '../../bench/detection/labelled-tables.ts'
import type { SensitiveClass } from '../../src/core/classification.ts'

type Dice = (sides: number) => number

/** Xorshift: a stream of its own. */
function dice(seed: number): Dice {
  let state = (seed * 2_654_435_761 + 1) | 0
  return (sides) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % sides
  }
}

const digits = (roll: Dice, count: number) => Array.from({ length: count }, () => roll(10)).join('')
const oneOf = <T>(roll: Dice, items: readonly T[]) => items[roll(items.length)] as T
const padded = (value: number, width: number) => String(value).padStart(width, '0')

const clearNames: Readonly<Record<SensitiveClass, string>> = {
  us_ssn: `SSN ssn employee_ssn SocialSecurityNumber social_security_number Social_Security_Number__c National_SSN soc_sec_no
    SSN_NBR EMP_SSN patient_ssn PatientSSN borrower_ssn co_borrower_ssn applicantSocialSecurityNumber taxpayerSSN SOC_SEC_NBR
    ss_number ssn_id person.ssn identifiers.ssn W2_SSN spouse_social_security dependentSsn SocSecNum NUMERO_SEGURO_SOCIAL
    numSeguroSocial ssn_raw SSNumber member_ssn primary_ssn ssn_formatted UserSSN us_ssn`,
  email: `Email email c_email_address EmailAddress email_address user_email PersonEmail npe01__WorkEmail__c SMTP_ADDR E_MAIL
    customer_email billing_email contact_email work_email personal_email supportEmail FromEmail recovery_email emailAddress1
    emails.value profile.email billing_details.email receipt_email shipping.email author_email committer_email login_email
    E_Mail_Adresse KundenEmail adresse_mail mail_client courriel_contact correo_electronico CORREO emailCliente
    indirizzo_email e_mail_cliente email_do_cliente emailadres_klant primaryEmail alt_email parent_email_1 secondary_email
    StudentEmail EMAIL_ADDR1 customer.contact.emailAddress`,
  credit_card: `CardNumber credit_card_number CreditCardNumber card_number cc_number ccNumber cc_num CC_NUM pan card_pan PAN primary_account_number
    payment_card_number creditCard CREDIT_CARD_NO cardNum CardNo card_no debit_card_number payment.card.number card.number
    billing_card_number creditcard creditcard_number customer_credit_card CCNO CRDT_CARD_NBR kreditkarten_nr Kreditkartennummer
    numero_carte_bancaire NumeroCarteCredit num_tarjeta numeroTarjetaCredito numero_carta_credito numero_do_cartao creditcardnummer
    stored_card_number PaymentCardNumber cardnumber`,
  phone: `Phone phone MobilePhone HomePhone phone_number PhoneNumber BusinessEntityPhone TELF1 TEL_NUMBER telephone contact_phone mobile
    mobile_number Fax customer_phone c_phone s_phone OtherPhone AssistantPhone billing_phone shipping_phone phone1 phone2
    shipping_address.phone telecom.phone cell_phone emergency_contact_phone work_phone_number phoneNumbers.element.value
    daytime_telephone MobileNo mobileNumber whatsapp_number msisdn Telefon Telefonnummer Rufnummer handy_nr TelefonPrivat
    numero_telephone tel_portable téléphone TelephoneDomicile telefono_fijo telefonoMovil celular numero_di_telefono
    cellulare_cliente telefone_contato telemovel telefoonnummer mobiel_nummer`,
  iban: `IBAN iban iban_number bank_iban BankIBAN customer_iban beneficiary_iban creditorAccount.iban debtorAccount.iban
    creditor_iban debtorIban IBAN_NO supplier_iban payout_iban sepa_debit.iban account_iban kunden_iban IBAN_Kunde ibanClient iban_client
    codice_iban CodiceIBAN iban_cliente numeroIban numero_iban iban_nummer iban_rekening refund_iban payee_iban
    employeeIban salary_iban international_bank_account_number bankAccount.iban`,
}

/** Names that say nothing of what they hold. */
const mutedNames = 'f1 COLUMN_12 udf_text_03 ZZFIELD1 extra misc val_str Attribute10'.split(' ')

const textWriters: Readonly<Record<SensitiveClass, (roll: Dice) => () => string>> = {
  us_ssn: (roll) => {
    const bare = roll(5) === 0
    return () => {
      // The ranges that were issued before 2011, by state, mostly.
      const area = oneOf(roll, [1 + roll(586), 587 + roll(79), 667 + roll(105), 772 + roll(128)])
      const rest = [padded(1 + roll(99), 2), padded(1 + roll(9999), 4)]
      return [padded(area, 3), ...rest].join(bare ? '' : '-')
    }
  },
  email: (roll) => {
    const wild = roll(4) === 0
    return () => {
      const person = oneOf(roll, [
        'j.doe',
        'maria',
        'o-reilly',
        "d'angelo",
        'zhang_wei',
        'info',
        'k.lee77',
        'sales+eu',
        'rené',
      ])
      const host = oneOf(roll, [
        'example.com',
        'contoso.onmicrosoft.com',
        'mail.ru',
        'qq.com',
        'sub.dept.company.co.jp',
        'münchen.de',
        'startup.ai',
      ])
      const address = `${person}${roll(3) === 0 ? roll(1000) : ''}@${host}`
      return wild
        ? oneOf(roll, [
            address,
            `Jane Roe <${address}>`,
            `mailto:${address}`,
            `${address}; b${address}`,
            ` ${address} `,
          ])
        : address
    }
  },
  credit_card: (roll) => {
    // Numbers of every issuer, and accounts made from their prefixes.
    const published =
      '4539738969293791 4716493267349532 5513241241578664 2223407346146115 5138823384687884 378255300963489 371494925629418 6011436695920637 3052996482922796 36500410823469 3566203908810674 6292137452822046'.split(
        ' ',
      )
    const split = oneOf(roll, ['', '', ' ', '-'])
    return () => {
      const number =
        roll(3) === 0
          ? oneOf(roll, published)
          : checked(oneOf(roll, ['424242', '601100', '555555', '400005', '520082']) + digits(roll, 9))
      return number.length === 16 && split !== '' ? (number.match(/\d{4}/g) ?? []).join(split) : number
    }
  },
  phone: (roll) => {
    const writers: readonly (() => string)[] = [
      () =>
        `(${oneOf(roll, ['646', '408', '832'])}) ${2 + roll(8)}${oneOf(roll, ['23', '47', '58'])}-${digits(roll, 4)}`,
      () => `+1${oneOf(roll, ['650', '425', '929'])}${oneOf(roll, ['253', '648', '880'])}${digits(roll, 4)}`,
      () => `1-800-${oneOf(roll, ['275', '692', '446'])}-${digits(roll, 4)}`,
      () => `+44 (0)20 7${digits(roll, 3)} ${digits(roll, 4)}`,
      () => `07${oneOf(roll, ['700', '911', '447'])} ${digits(roll, 6)}`,
      () => `+49 (0)89 ${2 + roll(7)}${digits(roll, 6)}`,
      () => `0${oneOf(roll, ['171', '160', '151'])}/${oneOf(roll, ['234', '778'])}${digits(roll, 4)}`,
      () => `06.${padded(10 + roll(89), 2)}.${digits(roll, 2)}.${digits(roll, 2)}.${digits(roll, 2)}`,
      () => `+34 6${digits(roll, 8)}`,
      () => `+91-98${digits(roll, 3)}-${digits(roll, 5)}`,
      () => `(11) 9${7 + roll(3)}${digits(roll, 3)}-${digits(roll, 4)}`,
      () => `+81 90-${1 + roll(9)}${digits(roll, 3)}-${digits(roll, 4)}`,
      () => `0412 ${digits(roll, 3)} ${digits(roll, 3)}`,
      () => `212${oneOf(roll, ['555', '736'])}${digits(roll, 4)}`,
    ]
    const main = oneOf(roll, writers)
    const mixed = roll(4) === 0
    return () => (mixed ? oneOf(roll, writers)() : main())
  },
  iban: (roll) => {
    // Domestic parts that need no national check; the international one is computed.
    const parts: readonly (() => string)[] = [
      () => `DE${oneOf(roll, ['37040044', '50010517', '10070024'])}${digits(roll, 10)}`,
      () => `NLABNA${digits(roll, 10)}`,
      () => `GB${oneOf(roll, ['WEST', 'LOYD'])}${digits(roll, 14)}`,
      () => `AT${oneOf(roll, ['19043', '20111'])}${digits(roll, 11)}`,
      () => `CH00762${digits(roll, 12)}`,
      () => `SE500${digits(roll, 17)}`,
      () => `LT10000${digits(roll, 11)}`,
      () => `SA80${digits(roll, 6)}A${digits(roll, 11)}`,
      () => `BG${'BNBG'}${digits(roll, 6)}10${digits(roll, 6)}`,
    ]
    const main = oneOf(roll, parts)
    const form = roll(3)
    return () => {
      const part = (roll(5) === 0 ? oneOf(roll, parts) : main)()
      const country = part.slice(0, 2)
      const account = part.slice(2)
      const number = [...account, ...country, '0', '0'].map((sign) => Number.parseInt(sign, 36)).join('')
      const iban = `${country}${padded(Number(98n - (BigInt(number) % 97n)), 2)}${account}`
      return form === 0 ? (iban.match(/.{1,4}/g) ?? []).join(' ') : form === 1 ? iban.toLowerCase() : iban
    }
  },
}

/** Appends the Luhn digit by trying the ten there are. */
function checked(body: string): string {
  for (let last = 0; last < 10; last++) {
    let sum = 0
    const number = `${body}${last}`
    for (let place = 0; place < number.length; place++) {
      const value = Number(number[number.length - 1 - place])
      sum += place % 2 === 0 ? value : ([0, 2, 4, 6, 8, 1, 3, 5, 7, 9][value] as number)
    }
    if (sum % 10 === 0) return number
  }
  return body
}

/** Column name, then what it holds; `#` a digit, `X` a letter, `h` a hexadecimal digit where in braces. */
const innocent: readonly (readonly [names: string, write: (roll: Dice) => string])[] = [
  ['OrderNumber PurchaseOrderID po_number VBELN EBELN', (roll) => digits(roll, 16)],
  ['confirmation_number invoice_no BELNR', (roll) => `4${digits(roll, 15)}`],
  ['shopify_order_id stripe_balance_txn', (roll) => `5${1 + roll(5)}${digits(roll, 14)}`],
  [
    'l_partkey PART_NO MATNR component_no',
    (roll) => `${100 + roll(900)}-${10 + roll(90)}-${1000 + roll(9000)}`,
  ],
  ['reference ref_code lookup_key', (roll) => `${digits(roll, 3)}-${digits(roll, 2)}-${digits(roll, 4)}`],
  [
    'ProductNumber item_code StockCode',
    (roll) => `BK-${oneOf(roll, ['M', 'R', 'T'])}${digits(roll, 2)}-${digits(roll, 2)}`,
  ],
  [
    'ip client_ip RemoteAddr server_address',
    (roll) => `${1 + roll(223)}.${roll(256)}.${roll(256)}.${roll(256)}`,
  ],
  [
    'uuid row_guid correlation_id',
    (roll) => `${hex(roll, 8)}-${hex(roll, 4)}-4${hex(roll, 3)}-8${hex(roll, 3)}-${hex(roll, 12)}`,
  ],
  ['password_hash git_sha content_md5', (roll) => hex(roll, 40)],
  [
    'tpep_pickup_datetime ModifiedDate',
    (roll) => `2019-0${1 + roll(9)}-${10 + roll(19)} ${10 + roll(14)}:${10 + roll(50)}:00`,
  ],
  [
    'DateKey order_date_int',
    (roll) => `20${10 + roll(15)}${padded(1 + roll(12), 2)}${padded(1 + roll(28), 2)}`,
  ],
  ['_ts ingested_at_ms', (roll) => `16${digits(roll, 11)}`],
  ['unix_time event_ts', (roll) => `16${digits(roll, 8)}`],
  ['FedExTracking ups_tracking_no', (roll) => `${oneOf(roll, ['7', '9'])}${digits(roll, 11)}`],
  ['ISBN book_isbn', (roll) => `978-0-${digits(roll, 3)}-${digits(roll, 5)}-${roll(10)}`],
  ['isbn10', (roll) => `0-${digits(roll, 3)}-${digits(roll, 5)}-${oneOf(roll, ['X', '1', '7'])}`],
  ['barcode EAN11 upc_code', (roll) => digits(roll, 13)],
  [
    'BIC swift_bic SWIFT',
    (roll) => oneOf(roll, ['DEUTDEFF', 'BNPAFRPPXXX', 'INGBNL2A', 'BARCGB22', 'UBSWCHZH80A']),
  ],
  [
    'vat_number STCEG',
    (roll) => oneOf(roll, [`DE${digits(roll, 9)}`, `ATU${digits(roll, 8)}`, `ESB${digits(roll, 8)}`]),
  ],
  ['imei deviceImei', (roll) => checked(`8623${digits(roll, 10)}`)],
  ['npi provider_npi', (roll) => `1${digits(roll, 9)}`],
  ['mrn medical_record_number', (roll) => digits(roll, 8)],
  ['account_id AccountNumber', (roll) => `AW${digits(roll, 8)}`],
  ['custkey c_custkey KUNNR', (roll) => padded(roll(1_000_000), 10)],
  ['acct bank_account_no', (roll) => digits(roll, 11)],
  ['routing_no ABA', (roll) => `0${digits(roll, 8)}`],
  ['PostalCode zip4', (roll) => `${digits(roll, 5)}-${digits(roll, 4)}`],
  ['total_amount l_extendedprice', (roll) => `${roll(100_000)}.${digits(roll, 2)}`],
  ['pickup_latitude lng', (roll) => `-73.${digits(roll, 6)}`],
  ['semver image_tag', (roll) => `v${roll(9)}.${roll(30)}.${roll(10)}`],
  ['User-Agent user_agent', () => 'Mozilla/5.0 (X11; Linux x86_64)'],
  ['Message-ID rfc822_message_id', (roll) => `CA${hex(roll, 12)}@mail.gmail.com`],
  ['clone_url ssh_url', (roll) => `git@gitlab.com:team/repo${roll(99)}.git`],
  ['service_principal kerberos_principal', (roll) => `hdfs/node${roll(99)}@EXAMPLE.LOCAL`],
  ['instagram screen_name', (roll) => `@user_${roll(999)}`],
  ['s3_path file_uri', (roll) => `s3://bucket@v${roll(9)}/part-${digits(roll, 5)}.parquet`],
  ['HasOptedOutOfEmail email_opted_out', (roll) => oneOf(roll, ['true', 'false'])],
  ['email_verified EmailBouncedReason', (roll) => oneOf(roll, ['0', '1'])],
  ['EmailPromotion email_frequency', (roll) => String(roll(3))],
  ['hashed_email_sha256 em_hash', (roll) => hex(roll, 64)],
  ['PhoneNumberTypeID phone_type', (roll) => String(1 + roll(3))],
  ['phone_brand device_model', (roll) => oneOf(roll, ['Galaxy S9', 'Moto G'])],
  ['country_calling_code dial_code', (roll) => `+${1 + roll(99)}`],
  ['phone_verified_at', (roll) => `2021-02-${10 + roll(18)}T10:00:00Z`],
  ['CardType card_network', (roll) => oneOf(roll, ['Vista', 'Distinguish', 'ColonialVoice'])],
  ['ExpMonth card_exp_month', (roll) => String(1 + roll(12))],
  ['card_last_four last4', (roll) => digits(roll, 4)],
  ['card_fingerprint', (roll) => hex(roll, 16)],
  ['CreditCardApprovalCode approval_code', (roll) => `${digits(roll, 6)}Vi${digits(roll, 5)}`],
  ['CreditCardID', (roll) => String(roll(20_000))],
  ['library_card_number frequent_flyer_no', (roll) => digits(roll, 14)],
  ['ssn_last_four ssn_suffix', (roll) => digits(roll, 4)],
  ['has_ssn ssn_on_file', (roll) => oneOf(roll, ['Y', 'N'])],
  ['iban_country_code iban_bank_name', (roll) => oneOf(roll, ['DE', 'NL', 'BE'])],
  ['sepa_mandate_id mandate_reference', (roll) => `DE${digits(roll, 2)}MND${digits(roll, 13)}`],
  ['CompanyName o_comment', (roll) => `carefully final deposits ${roll(99)} detect slyly`],
  ['expansion_factor Serbian_name cellar_id pandas_version phonetic_key', (roll) => String(roll(500))],
  ['sequence surrogate_key', (roll) => String(100_000_000 + roll(800_000_000))],
  ['flight_no gate seat', (roll) => `LH${digits(roll, 4)}`],
  ['EIN FederalTaxNo', (roll) => `${10 + roll(80)}-${digits(roll, 7)}`],
  ['case_number docket', (roll) => `${digits(roll, 4)}-${digits(roll, 6)}`],
]

function hex(roll: Dice, count: number): string {
  return Array.from({ length: count }, () => roll(16).toString(16)).join('')
}

const holes = ['NULL', '', 'N/A', 'none']

/** Every known name once, and a column under a name that says nothing for every seventh. */
export function knownColumns(options: {
  readonly seed: number
  readonly cells: number
}): readonly LabelledColumn[] {
  const roll = dice(options.seed)
  const fill = (write: () => string) => Array.from({ length: options.cells }, write)
  const column = (
    name: string,
    values: readonly string[],
    holds: readonly SensitiveClass[],
    named: boolean,
  ) => ({
    ...{ name, values, sampledCount: values.length, holds, named },
    ...{ domain: 'known', table: 'known', declared: undefined, kind: holds[0] ?? 'innocent' },
  })
  const sensitive = (Object.keys(clearNames) as SensitiveClass[]).flatMap((held) =>
    clearNames[held].split(/\s+/).flatMap((name, index) => {
      const faulty = oneOf(roll, [0, 0, 8, 25])
      const values = () => {
        const write = textWriters[held](roll)
        return fill(() => (roll(100) < faulty ? oneOf(roll, holes) : write()))
      }
      const named = column(name, values(), [held], true)
      return index % 7 === 0 ? [named, column(oneOf(roll, mutedNames), values(), [held], false)] : [named]
    }),
  )
  const others = innocent.flatMap(([names, write]) =>
    names.split(' ').map((name) =>
      column(
        name,
        fill(() => write(roll)),
        [],
        false,
      ),
    ),
  )
  return [...sensitive, ...others]
}
