/** Values and names that look like a class and do not belong to it, so a classifier must not report them. */

import { type Draw, luhnDigit, remainder } from './random-values.ts'
import type { ValueMaker } from './sensitive-values.ts'

export interface HardNegative {
  readonly kind: string
  readonly names: readonly string[]
  readonly maker: (draw: Draw) => ValueMaker
}

function patterns(kind: string, names: string, ...forms: readonly string[]): HardNegative {
  return { kind, names: names.split(' '), maker: (draw) => () => draw.fill(draw.pick(forms)) }
}

function values(kind: string, names: string, make: (draw: Draw) => string): HardNegative {
  return { kind, names: names.split(' '), maker: (draw) => () => make(draw) }
}

function ean(body: string): string {
  const sum = [...body].reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0)
  return body + String((10 - (sum % 10)) % 10)
}

function date(draw: Draw): string {
  return `20${draw.int(10, 25)}-${String(draw.int(1, 12)).padStart(2, '0')}-${String(draw.int(1, 28)).padStart(2, '0')}`
}

const words = 'alpha basic delta gamma north prime ridge stone union vertex'.split(' ')

export const hardNegatives: readonly HardNegative[] = [
  // Digits that could be a card or telephone number.
  patterns('order number', 'order_number orderNo order_id ORDER_NBR', '################'),
  patterns(
    'order number in a card range',
    'order_ref orderNumber sales_order',
    '4###############',
    '51##############',
  ),
  patterns('transaction id', 'transaction_id txn_ref trace_no', '################', '###############'),
  patterns('epoch', 'created_ts event_time updated_at', '17########', '17###########'),
  patterns('customer number', 'customer_no customerId kundennummer', '##########', '#########'),
  patterns('opaque number', 'col_3 value ref', '##########', '###########', '#########'),
  patterns(
    'tracking number',
    'tracking_number trackingNo shipment_ref',
    '1Z@##@##########',
    '############',
    '9400################',
    '##########',
  ),
  patterns('telephone-like id', 'case_ref ticket_id claim_no', '####-######', '##-#######', '###-######'),
  patterns('telephone-like order', 'order_ref booking_ref', '###-###-####'),
  patterns('postal code', 'zip_code postal_code plz', '#####-####', '#####'),
  patterns('employer number', 'ein employer_tax_no', '##-#######'),
  patterns('taxpayer number', 'itin', '9##-7#-####'),
  patterns('business number', 'duns_number', '##-###-####'),
  patterns('drug code', 'ndc_code drug_code', '####-####-##', '#####-###-##'),
  patterns('part number shaped like an SSN', 'part_number partNo sku_code component_ref', '###-##-####'),
  patterns('product code', 'product_code sku article_no', '@@@-####-@', '@##-###-##', '###.###.###'),
  patterns('national id', 'cpf cpf_numero', '###.###.###-##'),
  patterns('bank account', 'account_number kontonummer', '##########', '########'),
  patterns('sort code', 'sort_code routing_number', '##-##-##', '#########'),
  patterns('gene', 'gene_id accession', 'NM_######.#', 'ENSG###########'),
  patterns(
    'vat id',
    'vat_id ust_id tax_number',
    'DE#########',
    'FR##########1',
    'NL#########B01',
    'IT###########',
  ),
  patterns('bank identifier', 'bic swift_code bank_bic', '@@@@DEFF', '@@@@FRPP###', '@@@@GB2L'),
  patterns(
    'iban-like reference',
    'mandate_ref creditor_ref payment_ref',
    'DE##ZZZ###########',
    'RF################',
    'GB##@@@@##############',
  ),
  values('device number', 'imei device_imei', (draw) => withLuhn(draw.fill('35############'))),
  values('SIM number', 'iccid sim_serial', (draw) => withLuhn(draw.fill('8949##############'))),
  values('company number', 'siret siret_code', (draw) => withLuhn(draw.fill('3############'))),
  values('gift card', 'gift_card_number loyalty_card_no', (draw) => withLuhn(draw.fill('6006###########'))),
  values('EAN', 'ean gtin ean13', (draw) => ean(draw.fill(`${draw.pick(['40', '87', '50'])}##########`))),
  values('UPC', 'upc upc_code', (draw) => ean(draw.fill('0###########')).slice(1)),
  values('ISBN', 'isbn isbn13', (draw) => {
    const digits = ean(draw.fill('9783########'))
    return draw.chance(0.5)
      ? digits
      : `${digits.slice(0, 3)}-3-${digits.slice(4, 7)}-${digits.slice(7, 12)}-${digits.slice(12)}`
  }),
  values('checked account', 'member_no policy_number', (draw) => {
    const body = draw.fill('########')
    return `${body}${String(remainder(body, 97)).padStart(2, '0')}`
  }),
  // Numbers in issuers' ranges that pass Luhn, and numbers in the form of an SSN of which none is invalid.
  values('checked order number', 'order_no purchase_order_number receipt_no booking_ref', (draw) =>
    withLuhn(draw.fill(draw.pick(['4###############', '52#############', '36############']).slice(0, -1))),
  ),
  values('loyalty card', 'loyalty_card_number library_card_no member_points_card kundenkarte_bonus', (draw) =>
    withLuhn(draw.fill('62#############')),
  ),
  patterns('case number shaped like an SSN', 'case_no claim_number permit_no lot_no', '1##-1#-1###'),
  // Names of the classes with another meaning.
  patterns("India's tax number", 'pan pan_number customer_pan', '@@@@@####@'),
  patterns('angle', 'pan', '-##.#', '##.#'),
  patterns('cost centre', 'ccno cc_number', '####', '######'),
  patterns('card row', 'card_number_key credit_card_ref', '######'),
  patterns(
    'insurance number of another country',
    'numero_securite_sociale sozialversicherungsnummer numero_seguridad_social',
    '1 ## 0# ## ### ### ##',
    '########A###',
    '##/########/##',
  ),
  patterns('insurance number of Canada', 'social_insurance_number', '###-###-###'),
  values(
    'message id by email',
    'email_message_id mail_message_id',
    (draw) => `${draw.fill('CA~~~~~~~~')}@mail.${draw.pick(words)}.com`,
  ),
  values(
    'principal',
    'kerberos_principal krb_user',
    (draw) => `${draw.pick(words)}@${draw.pick(words).toUpperCase()}.COM`,
  ),
  values('frequency of email', 'email_frequency EmailPromotion', (draw) =>
    draw.pick(['weekly', 'daily', 'never']),
  ),
  values('code of a telephone', 'phone_rank telefon_prioritaet', (draw) => String(draw.int(0, 12))),
  // Other well-known forms.
  values('IPv4', 'client_ip ip_address src_ip', (draw) => [1, 2, 3, 4].map(() => draw.int(1, 254)).join('.')),
  patterns('IPv6', 'ipv6 peer_addr', 'fe80::~~~~:~~~~:~~~~:~~~~'),
  patterns('MAC', 'mac_address', '~~:~~:~~:~~:~~:~~'),
  patterns('UUID', 'id event_id session_uuid', '~~~~~~~~-~~~~-4~~~-a~~~-~~~~~~~~~~~~'),
  patterns('hash', 'checksum sha256 etag', '~'.repeat(64), '~'.repeat(32)),
  values('timestamp', 'created_at updatedAt ts', (draw) => `${date(draw)} ${draw.fill('1#:2#:3#')}`),
  values('date', 'birth_date start_date', date),
  values('amount', 'amount total_price balance', (draw) => `${draw.int(1, 99_999)}.${draw.fill('##')}`),
  values('coordinate', 'lat longitude geo_lat', (draw) => `${draw.int(-90, 90)}.${draw.fill('######')}`),
  values(
    'version',
    'app_version build',
    (draw) => `${draw.int(1, 9)}.${draw.int(0, 20)}.${draw.int(0, 300)}.${draw.int(1, 20)}`,
  ),
  values('count', 'page_views quantity', (draw) => String(draw.int(0, 50_000))),
  values(
    'text',
    'description notes comment',
    (draw) => `${draw.pick(words)} ${draw.pick(words)} for ${draw.pick(words)}, call back ${date(draw)}`,
  ),
  values('word', 'status category segment', (draw) => draw.pick(words)),
  // At signs.
  values(
    'message id',
    'message_id in_reply_to_msgid',
    (draw) => `${draw.fill('2024####.~~~~~~')}@mail.${draw.pick(words)}.com`,
  ),
  values(
    'git remote',
    'repo_url git_remote',
    (draw) => `git@github.com:${draw.pick(words)}/${draw.pick(words)}.git`,
  ),
  values(
    'package',
    'package dependency',
    (draw) => `@${draw.pick(words)}/${draw.pick(words)}@${draw.int(1, 9)}.${draw.int(0, 9)}.0`,
  ),
  values('image', 'asset_name icon', (draw) => `${draw.pick(words)}@2x.png`),
  values('handle', 'twitter_handle username', (draw) => `@${draw.pick(words)}${draw.int(1, 99)}`),
  values('internal login', 'run_as os_user', (draw) => `${draw.pick(words)}@db${draw.int(1, 9)}.internal`),
  values(
    'connection string',
    'dsn jdbc_url',
    (draw) => `postgres://app@${draw.pick(words)}.example.com:5432/db`,
  ),
  // Names that contain a class but mean something else.
  patterns('hashed email', 'email_hash email_sha256 hashed_email', '~'.repeat(64)),
  values('email attribute', 'email_opt_in email_verified is_email_valid', (draw) =>
    draw.pick(['true', 'false']),
  ),
  values('email domain', 'email_domain', (draw) => `${draw.pick(words)}.com`),
  values('email counter', 'emails_sent email_open_count num_email_clicks', (draw) => String(draw.int(0, 40))),
  values('email text', 'email_subject email_template', (draw) => `Your ${draw.pick(words)} news`),
  values('phone attribute', 'phone_model phoneType phone_os', (draw) =>
    draw.pick(['iPhone 15', 'Pixel 8', 'mobile', 'landline']),
  ),
  values('dial code', 'phone_country_code phone_prefix', (draw) => `+${draw.pick(['1', '44', '49', '351'])}`),
  patterns('phone record id', 'phone_id phone_number_id', '##########'),
  values('radio cell', 'cell_id cell_tower', (draw) => String(draw.int(1_000_000, 9_999_999))),
  values('mobile usage', 'mobile_sessions mobile_app_version', (draw) => String(draw.int(1, 2000))),
  patterns('end of a card', 'card_last4 last_4_card_number cc_last_four', '####'),
  values('card attribute', 'card_brand card_type creditCardIssuer', (draw) =>
    draw.pick(['VISA', 'MASTERCARD', 'AMEX']),
  ),
  patterns('card expiry', 'card_expiry credit_card_exp', '0#/2#'),
  patterns('end of an SSN', 'ssn_last4 last4_ssn', '####'),
  values('SSN attribute', 'ssn_verified ssn_status', (draw) => draw.pick(['Y', 'N'])),
  values('IBAN attribute', 'iban_country iban_valid', (draw) => draw.pick(['DE', 'FR', 'NL'])),
  values(
    'near-miss name',
    'issn_flag panel urban_area microphone cardinality scorecard span_ms telemetry',
    (draw) => draw.pick(words),
  ),
]

function withLuhn(body: string): string {
  return body + luhnDigit(body)
}
