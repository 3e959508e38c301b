/** Reads the members of a document's objects. What no reader asked for is listed, so that nothing is dropped silently. */

import type { NotCarried } from './draft.ts'

export type Plain = Readonly<Record<string, unknown>>

/** An object of a document, and what was asked of it. */
export interface Members {
  readonly at: string
  /** A text; undefined where there is none. Another kind of value is listed. */
  text(name: string): string | undefined
  flag(name: string): boolean | undefined
  /** The texts of a list; a single text is a list of one. */
  texts(name: string): readonly string[]
  /** The objects of a list; what is none is listed. */
  objects(name: string): readonly Members[]
  object(name: string): Members | undefined
  /** Any value, as it is. */
  any(name: string): unknown
  /** Lists a member, or the object itself. */
  lose(why: string, name?: string): void
  /** Lists every member that was not asked for. */
  rest(why?: string): void
}

const notUsed = 'It has no meaning here'

/** Whether a value is an object with members. */
export function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @param at JSON Pointer of the object */
export function membersOf(plain: Plain, at: string, lost: NotCarried[]): Members {
  const asked = new Set<string>()
  const place = (name: string) => `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  const lose = (why: string, name?: string) =>
    void lost.push({ at: name === undefined ? at : place(name), why })
  const any = (name: string) => {
    asked.add(name)
    return Object.hasOwn(plain, name) ? (plain[name] ?? undefined) : undefined
  }
  const of = <T>(name: string, what: string, is: (value: unknown) => value is T): T | undefined => {
    const value = any(name)
    if (value === undefined || is(value)) return value
    lose(`It is not ${what}`, name)
    return undefined
  }
  const list = (name: string) => of(name, 'a list', (value): value is unknown[] => Array.isArray(value)) ?? []
  return {
    at,
    any,
    lose,
    text: (name) => of(name, 'a text', (value) => typeof value === 'string'),
    flag: (name) => of(name, 'true or false', (value) => typeof value === 'boolean'),
    texts: (name) => {
      if (typeof any(name) === 'string') return [String(any(name))]
      const found = list(name)
      if (found.some((one) => typeof one !== 'string')) lose('It is not a list of texts', name)
      return found.filter((one) => typeof one === 'string')
    },
    objects: (name) =>
      list(name).flatMap((one, index) => {
        if (isPlain(one)) return [membersOf(one, `${place(name)}/${index}`, lost)]
        lost.push({ at: `${place(name)}/${index}`, why: 'It is not an object' })
        return []
      }),
    object: (name) => {
      const found = of(name, 'an object', isPlain)
      return found && membersOf(found, place(name), lost)
    },
    rest: (why = notUsed) => {
      for (const name of Object.keys(plain)) if (!asked.has(name)) lose(why, name)
    },
  }
}
