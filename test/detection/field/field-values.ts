// Values of the five sensitive classes, valid by the public rules, in the spellings that systems store.
// Every maker fixes its spelling once per column (a column mostly has one) and then yields cells.

import type { SensitiveClass } from '../../../src/core/classification.ts'

export type Maker = () => string
export type Opener = (rand: Rand, region: string) => Maker

/** mulberry32 over an FNV-1a hash of the key: small, portable, the same on every machine. */
export class Rand {
  private state = 2166136261

  constructor(key: string) {
    for (const char of key) this.state = Math.imul(this.state ^ (char.codePointAt(0) ?? 0), 16777619)
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(0, items.length - 1)] as T
  }

  digits(count: number): string {
    return Array.from({ length: count }, () => this.int(0, 9)).join('')
  }

  letters(count: number): string {
    return Array.from({ length: count }, () => String.fromCharCode(65 + this.int(0, 25))).join('')
  }

  /** '#' digit, '@' capital, '^' hex digit, '%' capital or digit; '|' parts alternatives. */
  pattern(text: string): string {
    return this.pick(text.split('|')).replace(/[#@^%]/g, (mark) => {
      if (mark === '#') return this.digits(1)
      if (mark === '@') return this.letters(1)
      return this.pick([...(mark === '^' ? '0123456789abcdef' : 'ABCDEFGHJKLMNPQRSTUVWXYZ0123456789')])
    })
  }

  shuffle<T>(items: readonly T[]): T[] {
    const out = [...items]
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.int(0, i)
      ;[out[i], out[j]] = [out[j] as T, out[i] as T]
    }
    return out
  }
}

export const pad = (value: number, width: number): string => String(value).padStart(width, '0')

export const groupsOf = (text: string, size: number, by: string): string =>
  (text.match(new RegExp(`.{1,${size}}`, 'g')) ?? []).join(by)

const weighted = (digits: string, weights: readonly number[]): number =>
  [...digits].reduce((sum, d, i) => sum + Number(d) * (weights[i % weights.length] ?? 0), 0)

export function luhnDigit(body: string): string {
  const sum = [...body].reverse().reduce((acc, d, i) => {
    const n = Number(d) * (i % 2 === 0 ? 2 : 1)
    return acc + (n > 9 ? n - 9 : n)
  }, 0)
  return String((10 - (sum % 10)) % 10)
}

/** ISO 7064 mod 97 of a text whose letters count as two digits. */
export function mod97(text: string): number {
  let rest = 0
  for (const char of text) {
    const n = parseInt(char, 36)
    rest = (rest * (n > 9 ? 100 : 10) + n) % 97
  }
  return rest
}

export const check97 = (text: string): string => pad(98 - mod97(`${text}00`), 2)

/* ---- social security numbers ---- */

const ADVERTISED_SSNS = new Set(['078-05-1120', '219-09-9999'])

/** Areas up to 772 were given out by state until 2011; the later random ones reach 899. */
export function ssn(rand: Rand): string {
  for (;;) {
    const area = rand.chance(0.9) ? rand.int(1, 772) : rand.int(773, 899)
    const text = `${pad(area, 3)}-${pad(rand.int(1, 99), 2)}-${pad(rand.int(1, 9999), 4)}`
    if (area !== 666 && !ADVERTISED_SSNS.has(text)) return text
  }
}

export const openSsn: Opener = (rand) => {
  const by = rand.pick(['-', '-', '-', '', '', ' '])
  return () => ssn(rand).replaceAll('-', by)
}

/* ---- payment cards ---- */

const ISSUERS: readonly (readonly [prefix: () => readonly string[], length: number])[] = [
  [() => ['4147', '4485', '4532', '4539', '4556', '4716', '4916', '4929', '414720', '426684', '453201'], 16],
  [() => ['51', '52', '53', '54', '55', '2221', '2301', '2450', '2600', '2719', '510510', '545454'], 16],
  [() => ['34', '37', '3714', '3782', '3787'], 15],
  [() => ['6011', '644', '649', '65'], 16],
  [() => ['300', '305', '36', '38'], 14],
  [() => ['3528', '3566', '3589'], 16],
]

export function cardDigits(rand: Rand, mix: 'all' | 'common' | 'long' = 'all'): string {
  if (mix === 'long') return withLuhn(rand, rand.pick(['622126', '622588', '622700']), rand.pick([16, 19]))
  const top = mix === 'common' ? 2 : ISSUERS.length - 1
  const [prefixes, length] = ISSUERS[rand.chance(0.7) ? rand.int(0, 1) : rand.int(0, top)] ?? [
    () => ['4'],
    16,
  ]
  return withLuhn(rand, rand.pick(prefixes()), length)
}

function withLuhn(rand: Rand, prefix: string, length: number): string {
  const body = prefix + rand.digits(length - 1 - prefix.length)
  return body + luhnDigit(body)
}

/** Fours, but as they are embossed: 4-6-5 for Amex, 4-6-4 for Diners. */
export function spacedCard(digits: string, by: string): string {
  if (digits.length === 15 || digits.length === 14) {
    return [digits.slice(0, 4), digits.slice(4, 10), digits.slice(10)].join(by)
  }
  return groupsOf(digits, 4, by)
}

export const openCard: Opener = (rand) => {
  const by = rand.pick(['', '', '', ' ', ' ', '-'])
  const mix = rand.pick(['all', 'all', 'common', 'common', 'long'] as const)
  return () => spacedCard(cardDigits(rand, mix === 'long' && rand.chance(0.6) ? 'common' : mix), by)
}

/* ---- IBAN: the national part of each country, with its own check digits where it has them ---- */

function rib(rand: Rand): string {
  const bank = rand.pick(['30002', '30003', '30004', '20041', '10278', '18206', '17569'])
  const branch = pad(rand.int(1, 9999), 5)
  const account = rand.digits(11)
  const key = 97 - Number((89n * BigInt(bank) + 15n * BigInt(branch) + 3n * BigInt(account)) % 97n)
  return bank + branch + account + pad(key, 2)
}

function ccc(rand: Rand): string {
  const office = rand.pick(['0049', '0182', '2100', '0081', '2085', '1465']) + rand.digits(4)
  const account = rand.digits(10)
  const digit = (text: string): string => {
    const rest = 11 - (weighted(text, [1, 2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11)
    return rest === 11 ? '0' : rest === 10 ? '1' : String(rest)
  }
  return office + digit(`00${office}`) + digit(account) + account
}

const CIN_ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21] as const

function italian(rand: Rand): string {
  const body = rand.pick(['02008', '03069', '05034', '01005', '07601']) + rand.digits(5) + rand.digits(12)
  const sum = [...body].reduce((acc, d, i) => acc + (i % 2 === 0 ? (CIN_ODD[Number(d)] ?? 0) : Number(d)), 0)
  return String.fromCharCode(65 + (sum % 26)) + body
}

/** Digits of which the weighted sum is 0 mod 11; the last weight is 1. A remainder of 10 has no digit. */
export function mod11(rand: Rand, weights: readonly number[]): string {
  for (;;) {
    const body = String(rand.int(1, 9)) + rand.digits(weights.length - 2)
    const last = (11 - (weighted(body, weights) % 11)) % 11
    if (last < 10) return body + String(last)
  }
}

function iso1110(body: string): string {
  let state = 10
  for (const d of body) {
    const sum = (state + Number(d)) % 10
    state = ((sum === 0 ? 10 : sum) * 2) % 11
  }
  return body + String((11 - state) % 10)
}

export const mod10 = (body: string, weights: readonly number[]): string =>
  body + String((10 - (weighted(body, weights) % 10)) % 10)

const tailed = (body: string): string => body + check97(body)

function belgian(rand: Rand): string {
  const body = rand.pick(['001', '068', '310', '363', '539', '734']) + rand.digits(7)
  return body + pad(Number(body) % 97 === 0 ? 97 : Number(body) % 97, 2)
}

const CZECH = [6, 3, 7, 9, 10, 5, 8, 4, 2, 1] as const
const NINES = [9, 7, 3, 1] as const

/** German, British, Austrian, Swiss… accounts have bank-made checks only, outside of the registry. */
export const NATIONAL: Readonly<Record<string, (rand: Rand) => string>> = {
  AE: (r) => r.pick(['033', '035', '026']) + r.digits(16),
  AT: (r) => r.pick(['12000', '20111', '32000', '60000', '14000']) + r.digits(11),
  BA: (r) => tailed(r.pick(['129', '161', '338']) + r.digits(11)),
  BE: belgian,
  BG: (r) => r.pick(['BNBG', 'UNCR', 'STSA', 'FINV']) + r.digits(4) + r.pick(['10', '11']) + r.digits(8),
  CH: (r) => r.pick(['00762', '09000', '00230', '08390', '00700']) + r.digits(12),
  CY: (r) => r.pick(['002', '005']) + r.digits(5) + r.digits(16),
  CZ: (r) => r.pick(['0100', '0300', '0800', '2010']) + r.pick(['000000', '000019']) + mod11(r, CZECH),
  DE: (r) => r.pick(['37040044', '10010010', '50010517', '70150000', '20041155', '12030000']) + r.digits(10),
  ES: ccc,
  FI: (r) => {
    const body = r.pick(['123456', '200118', '500015', '101710', '405500']) + r.digits(7)
    return body + luhnDigit(body)
  },
  FR: rib,
  GB: (r) => r.pick(['NWBK601613', 'BARC200415', 'LOYD309634', 'HBUK401276', 'MONZ040004']) + r.digits(8),
  GR: (r) => r.pick(['011', '014', '017', '026']) + r.digits(4) + r.digits(16),
  HR: (r) => iso1110(r.pick(['100100', '236000', '240200', '234000'])) + iso1110(r.digits(9)),
  HU: (r) => mod10(r.pick(['117', '104', '120']) + r.digits(4), NINES) + mod10(r.digits(15), NINES),
  IE: (r) => r.pick(['AIBK931152', 'BOFI900017', 'IPBS990602']) + r.digits(8),
  IT: italian,
  LI: (r) => r.pick(['08800', '08810', '08801']) + r.digits(12),
  LT: (r) => r.pick(['73000', '70440', '40100']) + r.digits(11),
  LV: (r) => r.pick(['HABA', 'UNLA', 'RIKO']) + r.digits(13),
  MT: (r) => r.pick(['VALL22013', 'MMEB44552']) + r.digits(18),
  NL: (r) => r.pick(['ABNA', 'RABO', 'INGB', 'TRIO']) + mod11(r, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
  NO: (r) => mod11(r, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]),
  PL: (r) => mod10(r.pick(['1090', '1140', '1020', '1240']) + r.digits(3), [3, 9, 7, 1]) + r.digits(16),
  PT: (r) => tailed(r.pick(['0002', '0033', '0035', '0010']) + r.digits(4) + r.digits(11)),
  RO: (r) => r.pick(['BTRL', 'RNCB', 'BRDE', 'INGB']) + r.digits(16),
  RS: (r) => tailed(r.pick(['160', '205', '265']) + r.digits(13)),
  SA: (r) => r.pick(['80', '10', '20']) + r.digits(18),
  SI: (r) => tailed(r.pick(['02', '03', '10', '19']) + r.digits(3) + r.digits(8)),
  SK: (r) => r.pick(['0200', '0900', '1100']) + r.pick(['000000', '000019']) + mod11(r, CZECH),
  TR: (r) => `${r.pick(['00062', '00064', '00010', '00046'])}0${r.digits(16)}`,
}

export function iban(rand: Rand, region: string): string {
  const own = NATIONAL[region] !== undefined && rand.chance(0.8)
  const country = own ? region : rand.pick(Object.keys(NATIONAL))
  const national = (NATIONAL[country] ?? belgian)(rand)
  return country + check97(national + country).slice(0, 2) + national
}

export const openIban: Opener = (rand, region) => {
  const style = rand.pick(['bare', 'bare', 'bare', 'fours', 'fours', 'lower', 'prefixed', 'mixed'])
  return () => {
    const text = iban(rand, region)
    if (style === 'fours' || (style === 'mixed' && rand.chance(0.4))) return groupsOf(text, 4, ' ')
    if (style === 'lower') return text.toLowerCase()
    return style === 'prefixed' ? `IBAN ${groupsOf(text, 4, ' ')}` : text
  }
}

/* ---- telephone numbers: 'N' is 2-9; the spaces part area code and groups ---- */

interface Plan {
  readonly code: string
  readonly trunk: string
  readonly shapes: readonly string[]
}

const plan = (code: string, trunk: string, shapes: string): Plan => ({
  code,
  trunk,
  shapes: shapes.split('|'),
})

const NANP_US = '212 312 415 617 713 206 303 404 512 602 702 813 919 972 503 216 314 612 704 901'
const NANP_CA = '416 604 514 613 403 905 204 902'
const nanp = (areas: string): string =>
  areas
    .split(' ')
    .map((area) => `${area} NN# ####`)
    .join('|')

export const PLANS: Readonly<Record<string, Plan>> = {
  US: plan('1', '', nanp(NANP_US)),
  CA: plan('1', '', nanp(NANP_CA)),
  GB: plan(
    '44',
    '0',
    '7400 ######|7525 ######|7712 ######|7789 ######|7811 ######|7850 ######|7973 ######' +
      '|20 7N## ####|161 2## ####|121 6## ####',
  ),
  DE: plan(
    '49',
    '0',
    '151 2#######|160 9#######|171 N######|176 N#######|30 N#######|89 N#######|221 N######',
  ),
  AT: plan('43', '0', '664 N######|676 N######|1 N######'),
  CH: plan('41', '0', '79 N## ## ##|78 N## ## ##|76 N## ## ##|44 N## ## ##|31 3## ## ##'),
  FR: plan('33', '0', '6 1# ## ## ##|6 8# ## ## ##|7 8# ## ## ##|1 4# ## ## ##|4 7# ## ## ##'),
  BE: plan('32', '0', '475 ## ## ##|486 ## ## ##|2 5## ## ##'),
  ES: plan('34', '', '612 ### ###|655 ### ###|689 ### ###|915 ## ## ##|934 ## ## ##'),
  IT: plan('39', '', '333 #######|347 #######|328 #######|06 N#######|02 N#######'),
  PT: plan('351', '', '912 ### ###|936 ### ###|965 ### ###|213 ### ###'),
  NL: plan('31', '0', '6 1#######|6 2#######|20 N######|10 N######'),
  PL: plan('48', '', '501 ### ###|602 ### ###|691 ### ###|22 N## ## ##'),
  CZ: plan('420', '', '602 ### ###|777 ### ###|224 ### ###'),
  SE: plan('46', '0', '70 N## ## ##|73 N## ## ##|76 N## ## ##|8 N## ### ##'),
  NO: plan('47', '', '91# ## ###|92# ## ###|41# ## ###'),
  FI: plan('358', '0', '40 N######|50 N######|9 4######'),
  IE: plan('353', '0', '85 ### ####|86 ### ####|87 ### ####|1 4## ####'),
  SK: plan('421', '0', '903 ### ###|905 ### ###|911 ### ###'),
  HR: plan('385', '0', '91 N## ####|98 N## ####|1 48# ####'),
  RO: plan('40', '0', '721 ### ###|744 ### ###|21 3## ####'),
  MT: plan('356', '', '79## ####|99## ####|21N# ####'),
  TR: plan('90', '0', '532 ### ## ##|542 ### ## ##|505 ### ## ##|212 N## ## ##'),
  GR: plan('30', '', '694 ### ####|697 ### ####|210 N## ####'),
  RS: plan('381', '0', '63 N## ####|64 N## ####|11 N## ####'),
  BR: plan('55', '', '11 9N### ####|21 9N### ####|31 9N### ####|11 3### ####'),
  MX: plan('52', '', '55 N### ####|33 3### ####|81 8### ####'),
  IN: plan('91', '', '98### #####|99### #####|97### #####'),
  AU: plan('61', '0', '40# ### ###|41# ### ###|43# ### ###|2 9N## ####|3 9N## ####'),
  JP: plan('81', '0', '90 N### ####|80 N### ####|3 3N## ####|6 6N## ####'),
  CN: plan('86', '', '138 #### ####|139 #### ####|186 #### ####'),
  ZA: plan('27', '0', '82 N## ####|83 N## ####|21 4## ####'),
}

/** In every plan but the American, mobile numbers are known by their prefix; they come first in the list. */
export function phoneGroups(rand: Rand, region: string, mobile = false): readonly string[] {
  const { shapes } = PLANS[region] ?? (PLANS.US as Plan)
  const anywhere = !mobile || region === 'US' || region === 'CA'
  const shape = rand.pick(anywhere ? shapes : shapes.slice(0, 2))
  return rand.pattern(shape.replace(/N/g, () => String(rand.int(2, 9)))).split(' ')
}

type PhoneStyle = (groups: readonly string[], plan: Plan) => string

const e164: PhoneStyle = (g, p) => `+${p.code}${g.join('')}`
const spaced: PhoneStyle = (g, p) => `+${p.code} ${g.join(' ')}`
const doubleZero: PhoneStyle = (g, p) => `00${p.code}${g.join('')}`
const bracketTrunk: PhoneStyle = (g, p) => `+${p.code} (${p.trunk})${g.join(' ')}`
const national: PhoneStyle = (g, p) => `${p.trunk}${g.join(' ')}`
const nationalBare: PhoneStyle = (g, p) => `${p.trunk}${g.join('')}`
const by =
  (mark: string): PhoneStyle =>
  (g, p) =>
    `${p.trunk}${g.join(mark)}`
const areaThen =
  (mark: string): PhoneStyle =>
  (g, p) =>
    `${p.trunk}${g[0]}${mark}${g.slice(1).join('')}`
const brackets: PhoneStyle = (g) => `(${g[0]}) ${g.slice(1).join('-')}`

const LOCAL_STYLES: Readonly<Record<string, readonly PhoneStyle[]>> = {
  US: [
    brackets,
    brackets,
    by('-'),
    by('-'),
    by('.'),
    nationalBare,
    (g) => `1-${g.join('-')}`,
    (g) => `1${g.join('')}`,
  ],
  CA: [brackets, by('-'), by('.'), nationalBare],
  DE: [national, areaThen('/'), areaThen(' / '), areaThen('-'), nationalBare, bracketTrunk],
  GB: [national, nationalBare, bracketTrunk],
  FR: [national, by('.'), nationalBare],
  NL: [areaThen('-'), national, nationalBare],
  BR: [brackets, brackets, nationalBare],
  JP: [by('-'), by('-'), nationalBare],
  CH: [national, bracketTrunk, nationalBare],
  SE: [areaThen('-'), areaThen('-'), nationalBare],
  IT: [national, areaThen('/'), nationalBare],
  AU: [national, (g, p) => `(${p.trunk}${g[0]}) ${g.slice(1).join(' ')}`],
}

const GLOBAL_STYLES = [e164, spaced, spaced, doubleZero] as const

function withExtension(rand: Rand, text: string): string {
  return text + rand.pick([' x', ' ext. ', ' ext ', 'x']) + String(rand.int(100, 4999))
}

function phoneStyle(rand: Rand, region: string, plain: boolean): PhoneStyle {
  if (plain) return rand.pick([e164, spaced])
  if (rand.chance(0.4)) return rand.pick(region === 'US' || region === 'CA' ? [e164, spaced] : GLOBAL_STYLES)
  return rand.pick(LOCAL_STYLES[region] ?? [national, nationalBare])
}

/** One spelling for systems, several where people type; `clear` keeps to spellings nobody takes for a key. */
export function openPhone(rand: Rand, region: string, clear: boolean, mobile = false): Maker {
  const styles = [phoneStyle(rand, region, clear)]
  if (!clear && rand.chance(0.35))
    styles.push(phoneStyle(rand, region, false), phoneStyle(rand, region, false))
  const extended = region === 'US' && rand.chance(0.2)
  return () => {
    const text = rand.pick(styles)(phoneGroups(rand, region, mobile), PLANS[region] ?? (PLANS.US as Plan))
    return extended && rand.chance(0.25) ? withExtension(rand, text) : text
  }
}

/** The numbers of a firm with customers in many lands, always with their country code. */
export const openWorldPhone: Opener = (rand) => {
  const style = rand.pick([e164, spaced])
  return () => {
    const region = rand.pick(Object.keys(PLANS))
    return style(phoneGroups(rand, region), PLANS[region] ?? (PLANS.US as Plan))
  }
}

/* ---- e-mail addresses ---- */

const FIRST = (
  'james maria wei fatima lukas sofia ahmed chloe pedro ingrid tomasz yuki priya nora john elena karim ' +
  'hannah diego anna mehmet laura olga sven claire raj emily marco katarzyna joao linda pieter'
).split(' ')
const LAST = (
  'smith garcia chen nowak mueller rossi dubois jansen silva kaya novak tanaka patel johansson brown ' +
  'fischer moreau costa kowalska devries hansen lopez williams okafor petrov papadopoulos yilmaz ' +
  'keller martin nguyen oconnor haddad schmidt virtanen horvat'
).split(' ')
const FREE = 'gmail.com gmail.com gmail.com outlook.com hotmail.com yahoo.com icloud.com proton.me'.split(' ')
const FREE_LOCAL: Readonly<Record<string, string>> = {
  US: 'aol.com comcast.net verizon.net',
  DE: 'gmx.de web.de t-online.de',
  FR: 'orange.fr free.fr laposte.net',
  GB: 'btinternet.com hotmail.co.uk',
  IT: 'libero.it virgilio.it',
  ES: 'telefonica.net hotmail.es',
  NL: 'ziggo.nl kpnmail.nl',
  PL: 'wp.pl onet.pl',
  BR: 'uol.com.br terra.com.br',
  JP: 'docomo.ne.jp ezweb.ne.jp',
  SE: 'telia.com',
  CZ: 'seznam.cz',
  CH: 'bluewin.ch',
  AT: 'aon.at',
  PT: 'sapo.pt',
  TR: 'mynet.com',
}
const FIRMS = (
  'nordwind-logistik.de harborviewclinic.org brightleafmedia.com studiobianchi.it acme-tools.com ' +
  'grupoandino.mx vanderbergbouw.nl kestrelbank.co.uk fjordkraft.no blueriver.edu tanaka-seiko.co.jp ' +
  'lumenpay.io odyssea-travel.fr zielonydom.pl mapleridge.ca'
).split(' ')

export const person = (rand: Rand): readonly [string, string] => [rand.pick(FIRST), rand.pick(LAST)]

export const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

export const fullName = (rand: Rand): string => person(rand).map(capital).join(' ')

export const firmDomain = (rand: Rand): string => rand.pick(FIRMS)

function localPart(rand: Rand, [first, last]: readonly [string, string]): string {
  return rand.pick([
    `${first}.${last}`,
    `${first}.${last}`,
    `${first}${last}`,
    `${first[0]}${last}`,
    `${first[0]}.${last}`,
    `${last}.${first}`,
    `${first}_${last}`,
    `${first}${rand.int(60, 2005)}`,
    `${first}.${last}${rand.int(1, 99)}`,
    `${last}${rand.int(1, 999)}`,
    `${first}+${rand.pick(['news', 'shop', 'test', 'bills'])}`,
    `${first}-${last}`,
  ])
}

export function email(rand: Rand, region: string, who = person(rand)): string {
  const local = (FREE_LOCAL[region] ?? 'gmail.com').split(' ')
  const domain = rand.chance(0.3) ? firmDomain(rand) : rand.pick(rand.chance(0.5) ? local : FREE)
  return `${localPart(rand, who)}@${domain}`
}

function staffEmail(rand: Rand, domain: string): string {
  const [first, last] = person(rand)
  return `${first}.${last}${rand.chance(0.2) ? String(rand.int(2, 9)) : ''}@${domain}`
}

/** Jane.Roe@… as people write their own name. */
function capitalLocal(text: string): string {
  const [local = '', domain = ''] = text.split('@')
  return `${local.split('.').map(capital).join('.')}@${domain}`
}

export const openEmail: Opener = (rand, region) => {
  const style = rand.pick([...Array<string>(9).fill('plain'), 'upper', 'caps', 'caps', 'mailto'])
  return () => {
    const text = email(rand, region)
    if (style === 'upper') return text.toUpperCase()
    if (style === 'caps' && rand.chance(0.4)) return capitalLocal(text)
    return style === 'mailto' ? `mailto:${text}` : text
  }
}

export const openStaffEmail: Opener = (rand) => {
  const domain = firmDomain(rand)
  return () => staffEmail(rand, domain)
}

export const openRoleEmail: Opener = (rand) => {
  const boxes = [
    'info',
    'sales',
    'office',
    'ap',
    'orders',
    'kontakt',
    'compras',
    'reservations',
    'billing',
    'hello',
  ]
  return () =>
    `${rand.pick(boxes)}@${rand.chance(0.7) ? `${rand.pick(LAST)}-${rand.pick(LAST)}.com` : firmDomain(rand)}`
}

/** As mail clients write them: "Jane Roe <jane@roe.org>", at times last name first or in brackets. */
export const openNamedEmail: Opener = (rand, region) => {
  const style = rand.int(0, 2)
  return () => {
    const who = person(rand)
    const [first, last] = [capital(who[0]), capital(who[1])]
    const text = email(rand, region, who)
    if (style === 0) return `${first} ${last} <${text}>`
    return style === 1 ? `"${last}, ${first}" <${text}>` : `${first} ${last} (${text})`
  }
}

export const openEmailList: Opener = (rand, region) => {
  const mark = rand.pick(['; ', ';', ', ', ','])
  return () => Array.from({ length: rand.int(1, 3) }, () => email(rand, region)).join(mark)
}

/** What data entry leaves in a column of the class: cut short, mistyped, one digit too many. */
export function malformed(rand: Rand, holds: SensitiveClass, value: string): string {
  if (holds === 'email')
    return rand.pick([value.replace('@', ' at '), value.replace(/@.*/, '@'), value.replace('@', '')])
  if (holds === 'us_ssn') return rand.pick(['000-00-0000', '999-99-9999', value.slice(0, -1), 'XXX-XX-XXXX'])
  if (holds === 'phone') return rand.pick([value.slice(0, -4), '0000000000', '1234', `${value}0000`])
  return rand.pick([value.slice(0, -3), `${value}00`, 'xxxx'])
}
