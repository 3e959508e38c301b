/**
 * Draws the values of the messy tables: five kinds of sensitive values as people and systems write them, and values
 * that only look like them. It imports no word list and no rule of the classifiers.
 */

import { type Draw, luhnDigit, remainder } from './random-values.ts'

export type Make = () => string

const words = (text: string) => text.trim().split(/\s+/)

export const firstNames = words(
  'anna ben carla dmitri elif farah goran hanna ivo jana kofi lena mateo nora omar petra quinn rosa sven tomasz uma victor wanda ximena yusuf zoe',
)
export const lastNames = words(
  'abara becker castillo dvorak eriksen fischer garcia haddad ivanov jansen kowalski lindgren moreau nguyen okafor petrov quist rossi schmidt tanaka umarov vargas weber young zimmer',
)
const hosts = words(
  'mailbox.org posteo.de proton.me fastmail.com web.de free.fr libero.it seznam.cz acme-corp.com northwind.co.uk contoso.io uni-ulm.de',
)

export function emailMaker(draw: Draw): Make {
  return () => {
    const [first, last] = [draw.pick(firstNames), draw.pick(lastNames)]
    const local = draw.pick([
      `${first}.${last}`,
      `${first}${draw.int(1, 99)}`,
      `${first[0]}${last}`,
      `${first}_${last}`,
      `${first}+${last}`,
    ])
    const address = `${local}@${draw.pick(hosts)}`
    return draw.chance(0.08) ? address.toUpperCase() : address
  }
}

export function ssnMaker(draw: Draw): Make {
  return () => {
    let area = draw.int(1, 772)
    if (area === 666) area = 665
    const serial = String(draw.int(1, 9999)).padStart(4, '0')
    return `${String(area).padStart(3, '0')}-${String(draw.int(1, 99)).padStart(2, '0')}-${serial}`
  }
}

export function cardMaker(draw: Draw): Make {
  const prefix = draw.pick(['4539', '4024', '5412', '5301', '6011', '3714'])
  const spaced = draw.chance(0.4)
  return () => {
    const body = draw.fill(prefix.padEnd(prefix === '3714' ? 14 : 15, '#'))
    const digits = body + luhnDigit(body)
    if (!spaced) return digits
    return digits.length === 15
      ? digits.replace(/^(.{4})(.{6})(.{5})$/, '$1 $2 $3')
      : digits.replace(/(.{4})(?=.)/g, '$1 ')
  }
}

const ibanBodies: Readonly<Record<string, string>> = {
  DE: '##################',
  AT: '################',
  CH: '#################',
  GB: '@@@@##############',
  IE: '@@@@##############',
}

export function ibanMaker(draw: Draw): Make {
  const country = draw.pick(Object.keys(ibanBodies))
  const grouped = draw.chance(0.4)
  return () => {
    const body = draw.fill(ibanBodies[country] as string)
    const numeric = [...`${body}${country}00`].map((sign) => Number.parseInt(sign, 36)).join('')
    const check = String(98 - remainder(numeric, 97)).padStart(2, '0')
    const iban = `${country}${check}${body}`
    return grouped ? iban.replace(/(.{4})(?=.)/g, '$1 ') : iban
  }
}

export function phoneMaker(draw: Draw): Make {
  const pattern = draw.pick([
    '+49 30 2#######',
    '+44 20 7### ####',
    '+33 1 4# ## ## ##',
    '+1 415 2#3 ####',
    '(212) 3#6-####',
    '415-8#2-####',
  ])
  return () => draw.fill(pattern)
}

export const sensitiveMakers = {
  email: emailMaker,
  us_ssn: ssnMaker,
  credit_card: cardMaker,
  iban: ibanMaker,
  phone: phoneMaker,
} as const

const nouns = words(
  'invoice parcel ticket shipment contract sensor batch pallet router ledger printer voucher module cabinet filter spindle gasket turbine relay bracket',
)
const verbs = words(
  'opened closed checked delayed returned approved replaced escalated merged packed audited moved',
)

export function sentence(draw: Draw): string {
  const text = `${draw.pick(nouns)} ${draw.int(2, 900)} ${draw.pick(verbs)} after ${draw.pick(nouns)} was ${draw.pick(verbs)}`
  return draw.chance(0.5) ? `${text}, see ${draw.pick(nouns)} list.` : text
}

export function stamp(draw: Draw): string {
  const two = (most: number, least = 0) => String(draw.int(least, most)).padStart(2, '0')
  return `2025-${two(12, 1)}-${two(28, 1)}T${two(23)}:${two(59)}:${two(59)}.${draw.int(100, 999)}Z`
}

export function address4(draw: Draw): string {
  return [10, draw.int(0, 255), draw.int(0, 255), draw.int(1, 254)].join('.')
}

export function noun(draw: Draw): string {
  return draw.pick(nouns)
}
