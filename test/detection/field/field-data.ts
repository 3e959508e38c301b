// A labelled sample of lakehouse columns, as many kinds of systems keep them: about a third hold social
// security numbers, e-mail addresses, card numbers, telephone numbers or IBANs; the rest only look so, or
// not at all. The labels follow what a careful data steward would decide from the name and sixty cells:
//
//   holds     at least half of the cells have readable values of the class; strays in free text do not count
//   declared  the name means the class's value itself or a disguise of it (hash, mask, token), yet no
//             readable value is there; names of attributes (flags, types, last four, domains) declare nothing
//   named     the name or JSON path says the class; "login", "owner" or "account" alone do not
//
// A fax number counts as a telephone number, and a firm's address or number as much as a person's.

import type { LabelledColumn } from '../../../bench/detection/labelled-tables.ts'
import type { SensitiveClass } from '../../../src/core/classification.ts'
import { PATTERNS, TABLES } from './field-names.ts'
import * as v from './field-values.ts'
import { type Maker, type Opener, pad, Rand } from './field-values.ts'

interface Row {
  readonly domain: string
  readonly table: string
  readonly region: string
  readonly style: string
  readonly names: readonly string[]
  readonly silent: boolean
  readonly kind: string
  readonly declared: SensitiveClass | undefined
  readonly holds: readonly SensitiveClass[]
}

/* ---- kinds that hold a class ---- */

interface Holding {
  readonly holds: readonly SensitiveClass[]
  readonly open: Opener
}

const holding = (open: Opener, ...holds: SensitiveClass[]): Holding => ({ holds, open })

const e164 = (rand: Rand, region: string, mobile = false): string => {
  const home = v.PLANS[region] ? region : 'US'
  return `+${v.PLANS[home]?.code ?? ''}${v.phoneGroups(rand, home, mobile).join('')}`
}

const fhir: Opener = (rand, region) => () => {
  const phone = { system: 'phone', value: e164(rand, region), use: rand.pick(['home', 'mobile', 'work']) }
  const mail = { system: 'email', value: v.email(rand, region) }
  return JSON.stringify(rand.chance(0.9) ? [phone, mail] : [phone])
}

const mailLog: Opener = (rand, region) => () =>
  `${rand.pattern('%%%%%%%%%%')}: to=<${v.email(rand, region)}>, ` +
  `relay=mx${rand.int(1, 4)}.${v.firmDomain(rand)}` +
  `[${ipv4(rand)}]:25, delay=${rand.int(0, 9)}.${rand.int(0, 9)}, dsn=2.0.0, status=sent`

const twoPhones: Opener = (rand, region) => {
  const phone = v.openPhone(rand, region, true)
  return () => (rand.chance(0.5) ? phone() : `${phone()} / ${phone()}`)
}

const HOLDING: Readonly<Record<string, Holding>> = {
  ssn: holding(v.openSsn, 'us_ssn'),
  dashedssn: holding((rand) => () => v.ssn(rand), 'us_ssn'),
  card: holding(v.openCard, 'credit_card'),
  spacedcard: holding((rand) => {
    const mark = rand.pick([' ', '-'])
    return () => v.spacedCard(v.cardDigits(rand, 'common'), mark)
  }, 'credit_card'),
  iban: holding(v.openIban, 'iban'),
  phone: holding((rand, region) => v.openPhone(rand, region, false), 'phone'),
  mobile: holding((rand, region) => v.openPhone(rand, region, false, true), 'phone'),
  clearphone: holding((rand, region) => v.openPhone(rand, region, true), 'phone'),
  worldphone: holding(v.openWorldPhone, 'phone'),
  e164: holding((rand, region) => () => e164(rand, region), 'phone'),
  msisdn: holding((rand, region) => () => e164(rand, region, true).slice(1), 'phone'),
  phones: holding(twoPhones, 'phone'),
  email: holding(v.openEmail, 'email'),
  staff: holding(v.openStaffEmail, 'email'),
  role: holding(v.openRoleEmail, 'email'),
  named_email: holding(v.openNamedEmail, 'email'),
  emails: holding(v.openEmailList, 'email'),
  maillog: holding(mailLog, 'email'),
  fhir: holding(fhir, 'phone', 'email'),
}

/* ---- everything else: patterns first (see Rand.pattern), then what needs arithmetic ---- */

/** "name = pattern" lines by name. */
const SHAPES = new Map(
  PATTERNS.trim()
    .split('\n')
    .map((line) => line.split(' = ') as [string, string]),
)

const REMARKS = [
  'Left voicemail',
  'Customer asked for a refund',
  'Prefers mornings',
  'Sent brochure',
  'No answer, try again',
  'Rear bumper damaged at low speed',
  'Late arrival, needs a cot',
  'Parcel left with the neighbour at no. 14',
  'Promised credit of 25.00',
  'Kunde wuenscht Rueckruf',
  'Le client a paye le 12/03',
  'Llamar por la tarde',
  'Wrong size delivered, 42 instead of 44',
  'Escalated to tier 2',
  'Signed on 2023-04-18',
  'Gate code changed',
]

const ipv4 = (r: Rand): string => [r.int(11, 223), r.int(0, 255), r.int(0, 255), r.int(1, 254)].join('.')

const date = (r: Rand): string => `${r.int(2015, 2023)}-${pad(r.int(1, 12), 2)}-${pad(r.int(1, 28), 2)}`

const time = (r: Rand): string => `${pad(r.int(0, 23), 2)}:${pad(r.int(0, 59), 2)}:${pad(r.int(0, 59), 2)}`

const uuid = (r: Rand): string => r.pattern('^^^^^^^^-^^^^-4^^^-a^^^-^^^^^^^^^^^^')

const withLuhn = (body: string): string => body + v.luhnDigit(body)

const money = (r: Rand): string => Math.exp(1 + r.next() * 7).toFixed(2)

/** ISO 11649: the check digits stand before what they check. */
const reference = (head: string, tail: string): string => head + v.check97(tail + head) + tail

/** One note in fifteen carries an address or a number, as notes do. */
function freeText(r: Rand, region: string): string {
  const text = `${r.pick(REMARKS)}, ${r.pick(['see file', 'ref', 'visit on'])} ${r.pattern('####|######')}`
  if (!r.chance(1 / 15)) return `${text}. ${r.pick(REMARKS)}.`
  return `${text}. Reach at ${r.chance(0.5) ? e164(r, region) : v.email(r, region)}.`
}

const path = (r: Rand): string => r.pattern('orders/######|p/%%%%%%|u/@@####|feed.xml?id=####')

const EVERYDAY: Readonly<Record<string, (r: Rand, region: string) => string>> = {
  aba: (r) => v.mod10(r.pick(['0210', '0260', '1110', '3222']) + r.digits(4), [3, 7, 1]),
  amount: money,
  awsarn: (r) => `arn:aws:iam::${r.digits(12)}:role/${r.pick(['etl', 'ci-deploy', 'reader'])}`,
  barcode14: (r) => r.digits(14),
  bcrypt: (r) => `$2b$12$${r.pattern('%'.repeat(53))}`,
  bic: (r) =>
    r.pick(['DEUTDEFF', 'COBADEFFXXX', 'BNPAFRPP', 'INGBNL2A', 'BARCGB22', 'UNCRITMM', 'BBVAESMMXXX']),
  blz: (r) => r.pick(['37040044', '10010010', '50010517', '70150000', '20041155']),
  ccc: (r) => v.NATIONAL.ES?.(r) ?? '',
  creditorid: (r) => creditorId(r, r.pick(['DE', 'DE', 'NL'])),
  date,
  decimal: (r) => (r.next() * 500).toFixed(r.int(1, 3)),
  dedate: (r) => date(r).split('-').reverse().join('.'),
  dockerref: (r) =>
    `registry.lumenpay.io/${r.pick(['api', 'web', 'etl'])}@sha256:${r.pattern('^'.repeat(64))}`,
  domain: (r) => r.pick(['www.', '', 'mx1.']) + v.firmDomain(r),
  ean: (r) => ean(r, '40'),
  emailtemplate: (r) =>
    r.pick([
      'Hi {{first_name}}, write to {{support_email}}',
      'Dear <name>, your code is <code>',
      'Hello %FIRST%, from {{sender.email}}',
    ]),
  epoch: (r) => String(r.int(1577836800, 1699999999)),
  epochms: (r) => String(r.int(1577836800, 1699999999)) + r.digits(3),
  fedi: (r) => `@${v.person(r)[0]}@${r.pick(['mastodon.social', 'fosstodon.org', 'chaos.social'])}`,
  freetext: freeText,
  gitremote: (r) =>
    `git@${r.pick(['github.com', 'gitlab.com'])}:${r.pick(['acme', 'lumen'])}/${r.pick(['api', 'web'])}.git`,
  handle: (r) => v.person(r)[0] + r.pattern('_##|####|xX'),
  handleat: (r) => `@${v.person(r).join('_')}`,
  iccid: (r) => withLuhn(`8949${r.digits(14)}`),
  imei: (r) => withLuhn(r.pick(['35', '86', '01']) + r.digits(12)),
  ipv4,
  ipv6: (r) => r.pattern('2001:db8:^^^^:^^^^::^^^|2a02:8070:^^^^:^^^^:^^^^:^^^^:^^^^:^^^^'),
  isbn: (r) => ean(r, '978'),
  isbn10: (r) => v.mod11(r, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
  isin,
  jdbc: (r) => `postgresql://${r.pick(['svc', 'app'])}:****@db${r.int(1, 9)}.${v.firmDomain(r)}:5432/core`,
  lat: (r) => (r.next() * 120 - 60).toFixed(6),
  latlng: (r) => `${(25 + r.next() * 40).toFixed(5)},${(r.next() * 140 - 120).toFixed(5)}`,
  lei,
  librarycard: (r) => withLuhn(`2${r.pick(['1234', '9042', '3075'])}${r.digits(8)}`),
  lon: (r) => (r.next() * 240 - 120).toFixed(6),
  mac: (r) => r.pattern('^^:^^:^^:^^:^^:^^'),
  maildomain: (r) => r.pick(['gmail.com', 'gmx.de', 'orange.fr', v.firmDomain(r)]),
  maskedemail: (r) =>
    `${v.person(r)[0].charAt(0)}${r.pick(['***', '*****'])}@${r.pick(['g****.com', '****.de', '***'])}`,
  mandate: (r) => r.pattern('MNDT-########|DE2023######|@@##########'),
  min18: (r) => `100${r.digits(4)}-${r.digits(10)}-${r.digits(1)}`,
  msgid: (r) =>
    `<${date(r).replaceAll('-', '')}.${r.pattern('%%%%%%%%')}` +
    `@${r.pick(['mail', 'mta3', 'smtp'])}.${v.firmDomain(r)}>`,
  nhs: (r) => v.mod11(r, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]).replace(/(...)(...)/, '$1 $2 '),
  nir: (r) =>
    `${r.int(1, 2)} ${r.int(50, 99)} ${pad(r.int(1, 12), 2)} ${r.int(10, 95)} ` +
    `${r.digits(3)} ${r.digits(3)} ${r.int(10, 97)}`,
  npi: (r) => withLuhn(`80840${r.int(1, 2)}${r.digits(8)}`).slice(5),
  odo: (r) => String(r.int(100, 190000)),
  orcid,
  person: (r) => v.fullName(r),
  npmpkg: (r) => `@${r.pick(['acme', 'lumen'])}/${r.pick(['core', 'ui'])}@${r.pattern('1.#.#|2.#.##')}`,
  arn: (r) => `2${r.digits(22)}`,
  remitnote: (r, region) =>
    (r.chance(0.06) ? `Von ${v.iban(r, region)} ` : '') +
    r.pattern('Rechnung 2023-####|Invoice ######|Miete 0#/2023|Order DE########|RF## thanks'),
  rfref: (r) => reference('RF', r.digits(r.int(9, 18))),
  smallint: (r) => String(r.int(0, 400)),
  sscc: (r) => v.mod10(`0${r.pick(['40', '54', '87'])}${r.digits(14)}`, [3, 1]),
  sshtarget: (r) =>
    `${r.pick(['deploy', 'root', 'ubuntu'])}@${r.chance(0.6) ? ipv4(r) : `host-${r.int(1, 40)}`}:22`,
  sunspot: (r) => (r.next() * 180).toFixed(1),
  template: (r) => r.pattern('Your code is ######|Parcel arrives today|Balance low'),
  timestamp: (r) => `${date(r)}T${time(r)}Z`,
  upc: (r) => v.mod10(`0${r.digits(10)}`, [3, 1]),
  url: (r) => `https://${v.firmDomain(r)}/${path(r)}`,
  useragent: (r) =>
    `Mozilla/5.0 (X11; Linux x86_64) Chrome/${r.int(90, 119)}.0.${r.int(4000, 6100)}.${r.int(10, 199)}`,
  uuid,
  vin: (r) => r.pattern('1HGCM826#3A######|WVWZZZ1KZ%W######|ZFA31200000######|JTDKB20U#########'),
  yyyymmdd: (r) => date(r).replaceAll('-', ''),
  blank: () => '',
}

function isin(r: Rand): string {
  const body = r.pattern('DE000@##@##|US#########|GB00@######|FR00########0').slice(0, 11)
  return body + v.luhnDigit(body.replace(/[A-Z]/g, (letter) => String(parseInt(letter, 36))))
}

function orcid(r: Rand): string {
  const body = `0000000${r.int(1, 3)}${r.digits(7)}`
  const rest = (12 - ([...body].reduce((sum, d) => (sum + Number(d)) * 2, 0) % 11)) % 11
  return v.groupsOf(body + (rest === 10 ? 'X' : String(rest)), 4, '-')
}

const ean = (r: Rand, prefix: string): string => v.mod10(prefix + r.digits(12 - prefix.length), [1, 3])

/** SEPA creditor identifiers check their country and number, but not the business code between. */
function creditorId(r: Rand, country: string): string {
  const number = country === 'DE' ? `0000${r.digits(7)}` : `${r.digits(8)}0000`
  return `${country}${v.check97(number + country)}ZZZ${number}`
}

function lei(r: Rand): string {
  const body = r.pattern('529900%%%%%%%%%%%%|549300%%%%%%%%%%%%|2138##%%%%%%%%%%%%')
  return body + v.check97(body)
}

/* ---- JSON cells ---- */

const NUMERIC = new Set(['smallint', 'digit', 'epochms', 'amount', 'lat', 'lon', 'int'])

interface JsonField {
  readonly path: readonly string[]
  readonly kind: string
}

function jsonFields(kind: string): readonly JsonField[] {
  const inner = kind.replace(/^\[?\{?/, '').replace(/\}?\]?$/, '')
  if (!inner.includes('=')) return [{ path: [], kind: inner }]
  return inner.split('; ').map((part) => {
    const [path = '', name = ''] = part.split('=')
    return { path: path.split('.'), kind: name }
  })
}

function setPath(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [head = '', ...rest] = path
  if (rest.length === 0) target[head] = value
  else {
    target[head] ??= {}
    setPath(target[head] as Record<string, unknown>, rest, value)
  }
}

const openJson = (rand: Rand, region: string, kind: string): Maker => {
  const fields = jsonFields(kind).map((field) => ({ ...field, make: openKind(rand, region, field.kind) }))
  const airy = rand.chance(0.3)
  const value = (name: string, text: string): unknown => (NUMERIC.has(name) ? Number(text) : text)
  const one = (): unknown => {
    if (fields[0]?.path.length === 0) return fields[0].make()
    const out: Record<string, unknown> = {}
    for (const field of fields) setPath(out, field.path, value(field.kind, field.make()))
    return out
  }
  return () => {
    const cell = kind.startsWith('[') ? Array.from({ length: rand.int(1, 3) }, one) : one()
    return airy ? JSON.stringify(cell, null, 1).replace(/\n\s*/g, ' ') : JSON.stringify(cell)
  }
}

/* ---- kinds, names, rows ---- */

const isJson = (kind: string): boolean => /^[{[]/.test(kind)

function heldBy(kind: string): readonly SensitiveClass[] {
  if (!isJson(kind)) return HOLDING[kind]?.holds ?? []
  return [...new Set(jsonFields(kind).flatMap((field) => HOLDING[field.kind]?.holds ?? []))]
}

function openKind(rand: Rand, region: string, kind: string): Maker {
  if (isJson(kind)) return openJson(rand, region, kind)
  const held = HOLDING[kind]
  if (held !== undefined) return held.open(rand, region)
  const everyday = EVERYDAY[kind]
  if (everyday !== undefined) return () => everyday(rand, region)
  const pattern = SHAPES.get(kind)
  if (pattern === undefined) throw new Error(`no such kind: ${kind}`)
  // A code has one shape per column; words vary from cell to cell.
  const shape = /[#@^%]/.test(pattern) ? rand.pick(pattern.split('|')) : pattern
  return () => rand.pattern(shape)
}

const STYLES = [
  'snake',
  'snake',
  'snake',
  'camel',
  'camel',
  'pascal',
  'kebab',
  'upper',
  'upper',
  'title',
  'flat',
]

function styled(name: string, style: string): string {
  if (style === 'lit') return name
  const words = (part: string): string[] => part.split('_')
  const join = (part: string): string => {
    const all = words(part)
    if (style === 'camel') return (all[0] ?? '') + all.slice(1).map(v.capital).join('')
    if (style === 'pascal') return all.map(v.capital).join('')
    if (style === 'title') return all.map(v.capital).join(' ')
    if (style === 'kebab') return all.join('-')
    return style === 'flat' ? all.join('') : style === 'upper' ? part.toUpperCase() : part
  }
  return name
    .split('.')
    .map(join)
    .join(style === 'title' ? ' ' : '.')
}

function rowOf(line: string, head: Pick<Row, 'domain' | 'table' | 'region' | 'style'>): Row {
  const cut = line.indexOf(': ')
  const [kind = '', declared] = line.slice(cut + 2).split(' !')
  const silent = line.startsWith('~')
  const names = line.slice(silent ? 1 : 0, cut).split('|')
  return {
    ...head,
    names,
    silent,
    kind,
    declared: declared as SensitiveClass | undefined,
    holds: heldBy(kind),
  }
}

function rowsOf(seed: number): readonly Row[] {
  return TABLES.trim()
    .split(/\n\n+/)
    .flatMap((block) => {
      const [header = '', ...lines] = block.split('\n')
      const [, domain = '', table = '', regions = '', style = ''] = header.split(' ')
      const rand = new Rand(`${seed}/${domain}/${table}`)
      const region = rand.pick(regions.split('|'))
      const spelling = style === 'any' ? rand.pick(STYLES) : style
      return lines.map((line) => rowOf(line, { domain, table, region, style: spelling }))
    })
}

/* ---- which rows a seed shows ---- */

const QUOTA: Readonly<Record<SensitiveClass, number>> = {
  us_ssn: 29,
  credit_card: 30,
  iban: 30,
  phone: 37,
  email: 36,
}
const OTHERS = 300

/** Fewer than all: each seed sees another part of the tables, with every class well represented. */
function chosen(rows: readonly Row[], rand: Rand): ReadonlySet<Row> {
  const count: Record<SensitiveClass, number> = { us_ssn: 0, credit_card: 0, iban: 0, phone: 0, email: 0 }
  const kept = new Set<Row>()
  let others = 0
  for (const row of rand.shuffle(rows)) {
    if (row.holds.length === 0 ? others >= OTHERS : row.holds.every((c) => count[c] >= QUOTA[c])) continue
    kept.add(row)
    for (const held of row.holds) count[held] += 1
    if (row.holds.length === 0) others += 1
  }
  return kept
}

/* ---- cells ---- */

const FILLERS = ['', '', '', 'n/a', 'N/A', 'unknown', '-', 'none', 'NULL', '?', 'TBD', '.']

/** Blanks and mistakes at some places of the column, never near half of it. */
function soiled(cells: readonly string[], row: Row, rand: Rand): string[] {
  const [held] = row.holds
  const blanks = rand.chance(held ? 0.35 : 0.15) ? rand.int(3, 25) / 100 : 0
  const json = isJson(row.kind) || row.kind === 'fhir'
  const wrong = held && !json && rand.chance(0.25) ? rand.int(2, 6) / 100 : 0
  const filler = json ? ['{}', ''] : [rand.pick(FILLERS), rand.pick(FILLERS)]
  const places = rand.shuffle(cells.map((_, i) => i))
  const out = [...cells]
  const blankCount = Math.floor(blanks * cells.length)
  const wrongCount = Math.floor(wrong * cells.length)
  for (const at of places.slice(0, blankCount)) out[at] = rand.pick(filler)
  for (const at of places.slice(blankCount, blankCount + wrongCount)) {
    if (held) out[at] = v.malformed(rand, held, out[at] ?? '')
  }
  return out
}

function cellsOf(row: Row, rand: Rand, wanted: number): readonly string[] {
  if (row.kind === 'none') return []
  // The NULLs are gone, so that a column somebody need not fill comes with fewer cells.
  const count = Math.max(1, rand.chance(0.25) ? Math.floor((wanted * rand.int(35, 95)) / 100) : wanted)
  const make = openKind(rand, row.region, row.kind)
  const distinct = rand.chance(0.15) ? Math.max(1, Math.ceil(count / 3)) : count
  const pool = Array.from({ length: distinct }, make)
  const cells = Array.from(
    { length: count },
    (_, i) => (distinct === count ? pool[i] : rand.pick(pool)) ?? '',
  )
  if (row.declared !== undefined) return cells
  const padded = row.holds.length > 0 && rand.chance(0.04) ? cells.map((cell) => `${cell} `) : cells
  return soiled(padded, row, rand)
}

function columnOf(row: Row, seed: number, cells: number): LabelledColumn {
  const rand = new Rand(`${seed}/${row.domain}/${row.table}/${row.names.join()}`)
  const name = styled(rand.pick(row.names), row.style)
  const values = cellsOf(row, rand, cells)
  const { domain, table, holds, declared } = row
  const named = declared !== undefined || (holds.length > 0 && !row.silent)
  const kind = `${row.kind} [${row.region}]`
  return { name, values, sampledCount: values.length, domain, table, holds, named, declared, kind }
}

export function fieldColumns(options: {
  readonly seed: number
  readonly cells: number
}): readonly LabelledColumn[] {
  const rows = rowsOf(options.seed)
  const kept = chosen(rows, new Rand(`rows/${options.seed}`))
  return rows.filter((row) => kept.has(row)).map((row) => columnOf(row, options.seed, options.cells))
}
