/** Email addresses in cells: the part of RFC 5321 and 6531 that people use, read without backtracking. */

import type { CellMatch } from './value-match.ts'

const addressesMax = 10
/** RFC 5321 4.5.3.1. */
const addressCharsMax = 254
const localCharsMax = 64
const labelCharsMax = 63

const localPart = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~.-]+$/u
const label = /^[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?$/u
const topLevel = /^(?:\p{L}{2,}|xn--[a-z0-9-]+)$/iu

/** Not in the public tree: hosts of one's own network, and files (`logo@2x.png`). */
const otherEndings = new Set(
  'local localdomain localhost internal intranet lan corp home svc cluster png jpg jpeg gif svg webp ico css scss js mjs ts tsx json xml html htm txt csv log pdf yaml yml toml tar gz parquet'.split(
    ' ',
  ),
)

/** Whether a whole cell is an email address, `Name <address>`, a `mailto:` link, or a short list of those. */
export function judgeEmail(cell: string): CellMatch {
  if (!cell.includes('@')) return 'none'
  const parts = withoutListSigns(cell)
    .replace(quotedNames, '')
    .split(/[;,|\n]/, addressesMax + 1)
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const isList =
    parts.length > 0 &&
    parts.length <= addressesMax &&
    parts.every((part) => isEmailAddress(bareAddress(part)))
  return isList ? 'strong' : 'none'
}

/** `"Doe, Jane" <jane@example.com>`: the name may hold what separates addresses. */
const quotedNames = /"[^"]*"(?=\s*<)/g
/** `mailto:` of links, `SMTP:` of directories. */
const scheme = /^(?:mailto|smtp|email|acct):/i
const comment = /\s*\([^()]*\)$/

/** `{a@b.co,c@d.org}` as PostgreSQL prints an array. */
function withoutListSigns(cell: string): string {
  return /^[{[].*[}\]]$/.test(cell) ? cell.slice(1, -1) : cell
}

function bareAddress(part: string): string {
  const text = part.endsWith(')') ? part.replace(comment, '') : part
  const open = text.lastIndexOf('<')
  if (open >= 0 && text.endsWith('>')) return text.slice(open + 1, -1)
  const quoted = /^(["'])(.*)\1$/.exec(text)?.[2] ?? text
  return quoted.replace(scheme, '')
}

function isEmailAddress(text: string): boolean {
  const at = text.indexOf('@')
  if (at < 1 || at > localCharsMax || at !== text.lastIndexOf('@') || text.length > addressCharsMax)
    return false
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
