/** Makes values of the five classes as tables hold them: a column has one country and spelling, or several. */

import type { SensitiveClass } from '../../src/core/classification.ts'
import { type Draw, luhnDigit, remainder } from './random-values.ts'

/** Makes the values of one column. */
export type ValueMaker = () => string

/** Draws how one column of the class is written, and returns a maker of its values. */
export function sensitiveMaker(draw: Draw, made: SensitiveClass): ValueMaker {
  return makers[made](draw)
}

const makers: Readonly<Record<SensitiveClass, (draw: Draw) => ValueMaker>> = {
  us_ssn: ssnMaker,
  email: emailMaker,
  credit_card: cardMaker,
  phone: phoneMaker,
  iban: ibanMaker,
}

function ssnMaker(draw: Draw): ValueMaker {
  const separator = draw.pick(['-', '-', '-', ' '])
  return () => {
    const area = draw.pick([draw.int(1, 665), draw.int(667, 899)])
    const parts = [
      String(area).padStart(3, '0'),
      String(draw.int(1, 99)).padStart(2, '0'),
      String(draw.int(1, 9999)).padStart(4, '0'),
    ]
    return parts.join(separator)
  }
}

const firstNames =
  'anna ben clara david emma felix greta hugo ines jonas karla louis maria noah olga paul rosa sven tina yusuf'.split(
    ' ',
  )
const lastNames =
  'smith mueller garcia rossi silva dupont jansen brown khan novak lopez weber moreau ricci santos visser'.split(
    ' ',
  )
const mailHosts =
  'gmail.com outlook.com yahoo.co.uk web.de gmx.net orange.fr libero.it telefonica.es sapo.pt kpnmail.nl proton.me corp-mail.io uni-bonn.de acme.travel'.split(
    ' ',
  )

function emailMaker(draw: Draw): ValueMaker {
  const upper = draw.chance(0.1)
  return () => {
    const first = draw.pick(firstNames)
    const last = draw.pick(lastNames)
    const local = draw.pick([
      `${first}.${last}`,
      `${first[0]}${last}${draw.int(1, 99)}`,
      `${first}_${last}`,
      `${first}+${draw.pick(['news', 'shop', 'x'])}`,
      `${last}${draw.int(1960, 2005)}`,
    ])
    const address = `${local}@${draw.pick(mailHosts)}`
    return upper ? address.toUpperCase() : address
  }
}

const cards: readonly (readonly [prefixes: readonly string[], length: number])[] = [
  [['4'], 16],
  [['51', '52', '53', '54', '55', '2221', '2500', '2720'], 16],
  [['34', '37'], 15],
  [['6011', '65', '644'], 16],
  [['36', '38', '301'], 14],
  [['3528', '3566', '3589'], 16],
  [['62'], 16],
]

function cardMaker(draw: Draw): ValueMaker {
  const grouped = draw.pick(['', '', ' ', '-'])
  const brands = draw.chance(0.3) ? [draw.pick(cards)] : cards
  return () => {
    const [prefixes, length] = draw.pick(brands)
    const prefix = draw.pick(prefixes)
    const body = prefix + draw.fill('#'.repeat(length - 1 - prefix.length))
    const number = body + luhnDigit(body)
    if (grouped === '') return number
    const groups = length === 16 ? /^(.{4})(.{4})(.{4})(.{4})$/ : /^(.{4})(.{6})(.+)$/
    return (groups.exec(number) ?? []).slice(1).join(grouped)
  }
}

const usAreas = '201 202 206 212 213 303 305 312 404 415 503 512 602 617 702 713 718 773 818 917'.split(' ')

const nationalPhones: Readonly<Record<string, (draw: Draw) => readonly [code: string, national: string]>> = {
  US: (draw) => [
    '1',
    `${draw.pick(usAreas)} ${draw.int(220, 799)} ${draw.fill('####')}`.replace(/ (\d)11 /, ' $122 '),
  ],
  GB: (draw) => [
    '44',
    draw.pick([
      `7${draw.pick(['400', '711', '850', '912'])} ${draw.fill('######')}`,
      draw.fill('20 7### ####'),
    ]),
  ],
  DE: (draw) => [
    '49',
    draw.pick([
      draw.fill('30 2#######'),
      draw.fill('89 4######'),
      draw.fill('171 2######'),
      draw.fill('1511 2######'),
    ]),
  ],
  FR: (draw) => ['33', draw.fill(`${draw.pick(['1 4', '6 1', '4 9', '7 8'])}# ## ## ##`)],
  ES: (draw) => ['34', draw.fill(`${draw.pick(['61#', '65#', '91#', '93#'])} ### ###`)],
  IT: (draw) => ['39', draw.fill(`${draw.pick(['328', '333', '347', '339'])} #######`)],
  NL: (draw) => ['31', draw.pick([draw.fill('6 2#######'), draw.fill('20 6######')])],
  PT: (draw) => ['351', draw.fill(`${draw.pick(['91#', '96#', '21#'])} ### ###`)],
}
/** The prefix of the national number inside the country. */
const trunk: Readonly<Record<string, string>> = { GB: '0', DE: '0', FR: '0', NL: '0' }

function phoneMaker(draw: Draw): ValueMaker {
  const countries = Object.keys(nationalPhones)
  const country = draw.pick(countries)
  const style = draw.pick(['international', 'international', 'e164', 'national', 'national', 'bare', 'mixed'])
  return () => {
    const of = style === 'mixed' || (style === 'e164' && draw.chance(0.3)) ? draw.pick(countries) : country
    const [code, national] = (nationalPhones[of] as (draw: Draw) => readonly [string, string])(draw)
    const writing = style === 'mixed' ? draw.pick(['international', 'e164', 'international']) : style
    if (writing === 'e164') return `+${code}${national.replaceAll(' ', '')}`
    if (writing === 'international')
      return draw.pick([`+${code} ${national}`, `+${code}-${national.replaceAll(' ', '-')}`])
    if (of === 'US' && writing === 'national')
      return draw.pick([
        national.replaceAll(' ', '-'),
        national.replace(/^(\d+) (\d+) /, '($1) $2-'),
        national.replaceAll(' ', '.'),
        `${national.replaceAll(' ', '-')} x${draw.int(10, 999)}`,
      ])
    const whole = `${trunk[of] ?? ''}${national}`
    return writing === 'bare' ? whole.replaceAll(' ', '') : whole
  }
}

const ibanFormats: Readonly<Record<string, (draw: Draw) => string>> = {
  DE: (draw) => draw.fill('##################'),
  AT: (draw) => draw.fill('################'),
  CH: (draw) => draw.fill('#################'),
  NL: (draw) => draw.fill(`${draw.pick(['ABNA', 'INGB', 'RABO'])}##########`),
  GB: (draw) => draw.fill(`${draw.pick(['BARC', 'NWBK', 'MIDL'])}##############`),
  IE: (draw) => draw.fill('AIBK##############'),
  LU: (draw) => draw.fill('###@@@##########').replace(/[A-Z]/g, 'A'),
  DK: (draw) => draw.fill('##############'),
  BE: (draw) => {
    const account = draw.fill('1#########')
    return account + String(remainder(account, 97) || 97).padStart(2, '0')
  },
  FR: (draw) => {
    const [bank, branch, account] = [draw.fill('3####'), draw.fill('#####'), draw.fill('###########')]
    const key = 97 - remainder(`${bank}${branch}${account}00`, 97)
    return `${bank}${branch}${account}${String(key).padStart(2, '0')}`
  },
}

function ibanMaker(draw: Draw): ValueMaker {
  const countries = draw.chance(0.5) ? [draw.pick(Object.keys(ibanFormats))] : Object.keys(ibanFormats)
  const spaced = draw.chance(0.4)
  return () => {
    const country = draw.pick(countries)
    const account = (ibanFormats[country] as (draw: Draw) => string)(draw)
    const numeric = `${account}${country}00`.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55))
    const iban = `${country}${String(98 - remainder(numeric, 97)).padStart(2, '0')}${account}`
    return spaced ? iban.replace(/.{4}(?=.)/g, '$& ') : iban
  }
}
