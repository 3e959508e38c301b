/**
 * Scans a policy's text before it is parsed: blanks comments and checks brackets. The parser fails on some comments,
 * and takes superlinear time on deep or unclosed brackets.
 */

import { limits } from '../limits.ts'
import type { PolicyProblem } from './policy-error.ts'

type Prescan =
  /** `source` has the length of the text, so offsets are the same in both. */
  { readonly source: string; readonly problem?: never } | { readonly problem: PolicyProblem }

const closerOf = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
])
const closers = new Set(closerOf.values())

/** Blanks comments. Refuses text that is too long, nested too deep, unbalanced or unterminated. */
export function prescan(text: string): Prescan {
  if (text.length > limits.policyTextBytesMax || Buffer.byteLength(text) > limits.policyTextBytesMax)
    return refuse(`The policy is longer than ${limits.policyTextBytesMax} bytes.`, 0)
  if (!text.isWellFormed()) return refuse('The policy holds an unpaired surrogate.', 0)
  const open: { readonly closer: string; readonly offset: number }[] = []
  let source = ''
  let copiedTo = 0
  let at = 0
  while (at < text.length) {
    const character = text.charAt(at)
    if (character === '"' || character === "'") {
      const end = stringEnd(text, at)
      if (end === undefined) return refuse('This string is not closed.', at)
      at = end
      continue
    }
    if (character === '/' && text.charAt(at + 1) === '/') {
      const end = lineEnd(text, at)
      source += text.slice(copiedTo, at) + ' '.repeat(end - at)
      copiedTo = end
      at = end
      continue
    }
    const closer = closerOf.get(character)
    if (closer !== undefined) {
      open.push({ closer, offset: at })
      if (open.length > limits.policyNestingMax)
        return refuse(`Brackets are nested deeper than ${limits.policyNestingMax}.`, at)
    } else if (closers.has(character) && open.pop()?.closer !== character)
      return refuse(`This '${character}' closes no bracket.`, at)
    at++
  }
  const unclosed = open.at(-1)
  if (unclosed !== undefined)
    return refuse(`A '${unclosed.closer}' is missing for this bracket.`, unclosed.offset)
  return { source: source + text.slice(copiedTo) }
}

function refuse(message: string, offset: number): Prescan {
  return { problem: { message, offset } }
}

function lineEnd(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charAt(at) !== '\n' && text.charAt(at) !== '\r') at++
  return at
}

/** The offset after the string literal whose quote is at `start`; undefined if it is not closed. */
function stringEnd(text: string, start: number): number | undefined {
  const quote = text.charAt(start)
  const raw = isRaw(text, start)
  const triple = text.startsWith(quote.repeat(3), start)
  const delimiter = triple ? quote.repeat(3) : quote
  let at = start + delimiter.length
  while (at < text.length) {
    const character = text.charAt(at)
    if (character === '\\' && !raw) at += 2
    else if (text.startsWith(delimiter, at)) return at + delimiter.length
    else if (!triple && (character === '\n' || character === '\r')) return undefined
    else at++
  }
  return undefined
}

/** Whether the quote at `start` has a prefix of r, b, rb or br that contains an r and does not end an identifier. */
function isRaw(text: string, start: number): boolean {
  const prefix = /(?:^|[^A-Za-z0-9_])([rRbB]{1,2})$/.exec(text.slice(Math.max(0, start - 3), start))?.[1]
  return prefix !== undefined && /[rR]/.test(prefix)
}
