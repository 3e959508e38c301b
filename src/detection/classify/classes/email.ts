/** Recognises email addresses in cells: the part of RFC 5321 and 6531 in use, matched without backtracking. */

import { type Candidate, matchesOf, type TextForm } from '../text-form.ts'
import { type CellMatch, matchCells } from '../value-match.ts'
import type { DetectorClass } from './detector-class.ts'
import { emailWords } from './email-words.ts'

const addressesMax = 10
/** RFC 5321 4.5.3.1. */
const addressCharsMax = 254
const localCharsMax = 64
const labelCharsMax = 63

const localPart = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~.-]+$/u
const label = /^[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?$/u
const topLevel = /^(?:\p{L}{2,}|xn--[a-z0-9-]+)$/iu

/** Endings that are no public domain: hosts of private networks, and files (`logo@2x.png`). */
const otherEndings = new Set(
  'local localdomain localhost internal intranet lan corp home svc cluster png jpg jpeg gif svg webp ico css scss js mjs ts tsx json xml html htm txt csv log pdf yaml yml toml tar gz parquet'.split(
    ' ',
  ),
)

/** Ids of messages and the like: long, in hexadecimal digits. */
const idLocal = /^(?=(?:[^\d@]*\d){6})[0-9a-f.-]{16,}@/i

/** Judges whether a whole cell is an email address, `Name <address>`, a `mailto:` link, or a short list of these. */
export function judgeEmail(cell: string): CellMatch {
  if (!cell.includes('@')) return 'none'
  if (isEmailAddress(cell)) return 'strong'
  const list = /^[{[].*[}\]]$/.test(cell) ? cell.slice(1, -1) : cell
  const isList =
    isListOf(list.replace(quotedNames, ''), /[;,|\n]/) || (!brackets.test(list) && isListOf(list, /\s/))
  return isList ? 'strong' : 'none'
}

/** `"Doe, Jane" <jane@example.com>`: the name may contain the separator of addresses. */
const quotedNames = /"[^"]*"(?=\s*<)/g
const brackets = /[<>()[\]]/
const bracketed = /^[^<>()[\]@]*[<([]([^<>()[\]\s]+@[^<>()[\]\s]+)[>)\]]$/
/** `mailto:` of links, `SMTP:` of directories, `acct:` of WebFinger. */
const scheme = /^(?:mailto|smtp|email|acct):/i

function isListOf(text: string, separator: RegExp): boolean {
  const parts = text
    .split(separator, addressesMax + 1)
    .map((part) => part.trim())
    .filter((part) => part !== '')
  return (
    parts.length > 0 &&
    parts.length <= addressesMax &&
    parts.every((part) => isEmailAddress(bareAddress(part)))
  )
}

function bareAddress(part: string): string {
  const inside = bracketed.exec(part)?.[1] ?? /^(["'])(.*)\1$/.exec(part)?.[2] ?? part
  const text = inside.replace(/ \([^()]*\)$/, '')
  return scheme.test(text) ? text.replace(scheme, '').replace(/\?.*$/, '') : text
}

function isEmailAddress(text: string): boolean {
  const at = text.indexOf('@')
  if (at < 1 || at > localCharsMax || at !== text.lastIndexOf('@') || text.length > addressCharsMax)
    return false
  if (idLocal.test(text)) return false
  const local = text.slice(0, at)
  if (!localPart.test(local) || local.startsWith('.') || local.endsWith('.') || local.includes('..'))
    return false
  const labels = text.slice(at + 1).split('.')
  const last = labels.at(-1) ?? ''
  return (
    labels.length > 1 &&
    labels.every((each) => each.length <= labelCharsMax && label.test(each)) &&
    topLevel.test(last) &&
    !otherEndings.has(last.toLowerCase())
  )
}

/** Not after a further `@`: handles of the fediverse are written so. */
const address =
  /(?<![@\p{L}\p{N}._%+-])[\p{L}\p{N}][\p{L}\p{N}._%+'-]{0,63}@(?:[\p{L}\p{N}-]{1,63}\.){1,6}\p{L}{2,24}/gu
/** Password and host of a connection, and `git@host:path`. */
const afterHost = /^(?::[^\s]|\/)/
const beforeHost = /:\/\/[^\s/]*$/
function* addresses(text: string): Generator<Candidate> {
  for (const each of matchesOf(text, address)) {
    if (afterHost.test(text.slice(each.at + each.value.length))) continue
    if (beforeHost.test(text.slice(Math.max(each.at - 100, 0), each.at))) continue
    yield each
  }
}

/** Domains under which only services and calendars have addresses. */
const serviceDomain =
  /@(?:[\p{L}\p{N}-]+\.)*(?:gserviceaccount\.com|(?:group|resource|import)\.calendar\.google\.com)$/iu
const listedAddress = /[^\s;,|<>()[\]{}"'=:]+@[^\s;,|<>()[\]{}"'=?]+/gu

function isOfServices(cell: string): boolean {
  const addresses = cell.match(listedAddress) ?? []
  return addresses.length > 0 && addresses.every((one) => serviceDomain.test(one))
}

/** How addresses stand in text. */
const text: TextForm = {
  needs: /@/,
  candidates: addresses,
  isValue: (value) => judgeEmail(value) === 'strong',
  isChecked: false,
  standsAlone: true,
}

/** The class `email`. */
export const email: DetectorClass = {
  words: emailWords,
  match: (cells) => matchCells(cells, judgeEmail),
  isNobodys: isOfServices,
  validMin: 0,
  hintedValidMin: 0,
  formSuffices: false,
  hintedByRoles: true,
  namesake: undefined,
  text,
  shownChars: 0,
}
