/**
 * Writes text of the messy tables: log lines, URLs, JSON lines, XML, CSV, mails and free text, with or without a
 * sensitive value inside. What looks like such a value and is none stands here too.
 */

import type { SensitiveClass } from '../../src/core/classification.ts'
import { address4, firstNames, lastNames, type Make, noun, sentence, stamp } from './messy-values.ts'
import { type Draw, luhnDigit } from './random-values.ts'

/** Writes one cell around a value, or one without a value. */
export type Frame = (draw: Draw, value: string | undefined) => string

/** How a system or a person calls the value beside it; half of the frames call it nothing. */
const calls: Readonly<Record<SensitiveClass, readonly string[]>> = {
  email: ['email', 'user', 'to', 'login', 'sender'],
  us_ssn: ['ssn', 'SSN', 'social'],
  credit_card: ['card', 'pan', 'cc', 'cardNumber'],
  iban: ['iban', 'IBAN', 'account', 'creditor'],
  phone: ['phone', 'tel', 'mobile', 'caller'],
}

const levels = ['INFO', 'WARN', 'ERROR', 'DEBUG']

export const frames: Readonly<Record<string, (made: SensitiveClass) => Frame>> = {
  'log line': (made) => (draw, value) => {
    const said = value === undefined ? `status=${draw.int(200, 504)}` : `${draw.pick(calls[made])}=${value}`
    return `${stamp(draw)} ${draw.pick(levels)} [${noun(draw)}-${draw.int(1, 9)}] ${said} from ${address4(draw)} took ${draw.int(1, 900)}ms`
  },
  'spoken log line': () => (draw, value) =>
    `${stamp(draw)} ${draw.pick(levels)} ${value === undefined ? 'nothing' : value} rejected by ${noun(draw)} service (code ${draw.int(1, 99)})`,
  url: (made) => (draw, value) => {
    const base = `https://shop.example.net/${noun(draw)}/${draw.int(1, 9999)}`
    const known = value === undefined ? '' : `&${draw.pick(calls[made])}=${encodeURIComponent(value)}`
    return `${base}?page=${draw.int(1, 9)}${known}&ref=${draw.fill('~~~~~~')}`
  },
  'json lines': (made) => (draw, value) => {
    const line = (held: string | undefined) =>
      JSON.stringify({
        ts: stamp(draw),
        [held === undefined ? 'item' : draw.pick(calls[made])]: held ?? noun(draw),
      })
    return `${line(undefined)}\n${line(value)}`
  },
  'python dict': (made) => (draw, value) =>
    `{'id': ${draw.int(1, 9999)}, '${value === undefined ? 'item' : draw.pick(calls[made])}': '${value ?? noun(draw)}', 'ok': True}`,
  xml: (made) => (draw, value) => {
    const tag = value === undefined ? 'item' : draw.pick(calls[made])
    return `<?xml version="1.0"?><record id="${draw.int(1, 9999)}"><${tag}>${value ?? noun(draw)}</${tag}><at>${stamp(draw)}</at></record>`
  },
  csv: () => (draw, value) =>
    `${draw.int(1, 9999)};${noun(draw)};${value ?? ''};${stamp(draw)};${draw.int(1, 90)}.50`,
  'free text': (made) => (draw, value) => {
    if (value === undefined) return sentence(draw)
    return draw.pick([
      `${sentence(draw)} Please reach ${draw.pick(firstNames)} at ${value}, thanks.`,
      `Spoke to ${draw.pick(lastNames)} (${value}) about the ${noun(draw)}.`,
      `Customer gave ${draw.pick(calls[made])} ${value}. ${sentence(draw)}`,
      `${sentence(draw)}\n\n-- \n${draw.pick(firstNames)} ${draw.pick(lastNames)}\n${value}`,
    ])
  },
}

const digits = (draw: Draw, count: number) => draw.fill('#'.repeat(count))

/** A number that passes Luhn and begins as no card does. */
function luhnNumber(draw: Draw): string {
  const body = `1${digits(draw, 14)}`
  return body + luhnDigit(body)
}

/** Text without sensitive values. */
export const harmless: Readonly<Record<string, (draw: Draw) => Make>> = {
  'log of numbers': (draw) => () =>
    `${stamp(draw)} INFO request ${digits(draw, 16)} batch ${digits(draw, 13)} bytes=${digits(draw, 9)}`,
  'order numbers in text': (draw) => () =>
    `Order ${digits(draw, 3)}-${digits(draw, 7)}-${digits(draw, 7)} packed by ${noun(draw)} desk`,
  'part numbers in text': (draw) => () =>
    `fits ${noun(draw)} part ${digits(draw, 3)}-${digits(draw, 2)}-${digits(draw, 4)}`,
  'tracking numbers that pass Luhn': (draw) => () => `parcel ${luhnNumber(draw)} left hub ${draw.int(1, 40)}`,
  'git remotes': (draw) => () =>
    `git@github.com:${draw.pick(lastNames)}/${noun(draw)}.git ${draw.fill('~~~~~~~~')}`,
  'database addresses': (draw) => () =>
    `postgres://app:${draw.fill('~~~~~~')}@db${draw.int(1, 9)}.prod.example.net:5432/${noun(draw)}`,
  'package versions': (draw) => () =>
    `installed ${noun(draw)}@${draw.int(1, 9)}.${draw.int(0, 20)}.${draw.int(0, 9)} and @${draw.pick(lastNames)}/${noun(draw)}`,
  'image names': (draw) => () => `/img/${noun(draw)}@2x.png, /img/${noun(draw)}@3x.webp`,
  'handles in text': (draw) => () =>
    `thanks @${draw.pick(firstNames)}_${draw.pick(lastNames)} for the ${noun(draw)}`,
  'message ids': (draw) => () =>
    `Message-ID: <${draw.fill('~~~~~~~~~~~~')}.${digits(draw, 10)}@mx${draw.int(1, 9)}.example.net>`,
  'masked addresses in text': (draw) => () =>
    `notified ${draw.pick(firstNames)[0]}*****@*****.org about ${noun(draw)}`,
  'masked cards in text': (draw) => () => `paid with ************${digits(draw, 4)} for ${noun(draw)}`,
  'measurements in text': (draw) => () =>
    `${noun(draw)} at ${draw.int(1, 90)}.${digits(draw, 6)}, ${draw.int(1, 90)}.${digits(draw, 6)} height ${digits(draw, 3)}-${digits(draw, 3)}`,
  traces: (draw) => () =>
    `at ${noun(draw)}.${noun(draw)}(${noun(draw)}.java:${draw.int(1, 900)}) span=${draw.fill('~~~~~~~~~~~~~~~~')} [${draw.fill('~~~~~~~~-~~~~-4~~~-8~~~-~~~~~~~~~~~~')}]`,
  'times in text': (draw) => () =>
    `window ${digits(draw, 4)}-${digits(draw, 4)} ran ${stamp(draw)} +0200 for ${digits(draw, 10)} ticks`,
  'plain notes': (draw) => () => sentence(draw),
  'harmless urls': (draw) => () =>
    `https://cdn.example.net/${noun(draw)}/${draw.fill('~~~~~~~~')}?v=${digits(draw, 10)}&w=${draw.int(10, 900)}`,
  'harmless xml': (draw) => () =>
    `<${noun(draw)} ref="${digits(draw, 9)}"><qty>${draw.int(1, 90)}</qty><gtin>${digits(draw, 13)}</gtin></${noun(draw)}>`,
}
