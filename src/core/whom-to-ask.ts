/**
 * Whom to ask about a table: the team and the support channels of its contract's document, bounded and cleaned, and the
 * words in which a refusal names them. It is text by strangers. It reads no store, and decides nothing.
 */

import { cleanText } from '../base/clean-text.ts'

export interface Person {
  readonly name?: string
  readonly username?: string
  readonly role?: string
}

export interface SupportChannel {
  readonly channel: string
  readonly url?: string
  readonly tool?: string
}

export interface WhomToAsk {
  readonly team?: string
  /** Owners first. */
  readonly people: readonly Person[]
  readonly channels: readonly SupportChannel[]
}

/** What a document says. Who leaves the team does so at a time, so the time of the reader decides. */
export interface Contacts extends WhomToAsk {
  readonly people: readonly (Person & { readonly until?: string })[]
}

const charsMax = { name: 100, url: 300 } as const
/** People and channels of a document that are stored, and that an answer names. */
const storedMax = 50
const shownMax = 5

type Plain = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const objects = (value: unknown): readonly Plain[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** A text on one line, absent where it is empty or no text. */
function line<K extends string>(from: Plain, name: K, max: number): { readonly [P in K]?: string } {
  const value = from[name]
  const text = typeof value === 'string' ? cleanText(value.replaceAll(/\s+/g, ' ').trim(), max) : ''
  return (text === '' ? {} : { [name]: text }) as { readonly [P in K]?: string }
}

/**
 * Reads `team` and `support` of a document.
 * @param team a list of members, as in ODCS 3.0, or an object with `name` and `members`
 * @returns undefined where they name nobody
 */
export function readContacts(team: unknown, support: unknown): Contacts | undefined {
  const named = isObject(team) ? line(team, 'name', charsMax.name) : {}
  const people = objects(isObject(team) ? team.members : team)
    .map((member) => ({
      ...line(member, 'name', charsMax.name),
      ...line(member, 'username', charsMax.name),
      ...line(member, 'role', charsMax.name),
      ...untilOf(member.dateOut),
    }))
    .filter(({ name, username }) => (name ?? username) !== undefined)
  const channels = objects(support).flatMap((one) => {
    const { channel } = line(one, 'channel', charsMax.name)
    return channel === undefined
      ? []
      : [{ channel, ...line(one, 'url', charsMax.url), ...line(one, 'tool', charsMax.name) }]
  })
  if (named.name === undefined && people.length + channels.length === 0) return undefined
  return {
    ...(named.name !== undefined && { team: named.name }),
    people: people.slice(0, storedMax),
    channels: channels.slice(0, storedMax),
  }
}

/** What is no date ends nothing. */
function untilOf(dateOut: unknown): { readonly until?: string } {
  const ms = typeof dateOut === 'string' ? Date.parse(dateOut) : Number.NaN
  return Number.isNaN(ms) ? {} : { until: new Date(ms).toISOString() }
}

/**
 * Those who can be asked at a time.
 * @returns undefined where there is nobody
 */
export function whomToAsk(contacts: Contacts | undefined, nowMs: number): WhomToAsk | undefined {
  if (contacts === undefined) return undefined
  const people = contacts.people
    .filter(({ until }) => until === undefined || nowMs < Date.parse(until))
    .map(({ until: _, ...person }) => person)
    .toSorted((a, b) => Number(isOwner(b)) - Number(isOwner(a)))
    .slice(0, shownMax)
  const channels = contacts.channels.slice(0, shownMax)
  const { team } = contacts
  if (team === undefined && people.length + channels.length === 0) return undefined
  return { ...(team !== undefined && { team }), people, channels }
}

const isOwner = ({ role = '' }: Person) => /\bowner\b/i.test(role)

/** People and channels that one sentence names. */
const spokenMax = 2

/** The words of a sentence: `Ann (owner) of the team shop, or #help (https://…)`. */
export function askWords({ team, people, channels }: WhomToAsk): string {
  const persons = people.slice(0, spokenMax).map(personText).join(', ')
  const ofTeam = team === undefined ? '' : persons === '' ? `the team ${team}` : ` of the team ${team}`
  const places = channels.slice(0, spokenMax).map(channelText)
  return [`${persons}${ofTeam}`, ...places].filter((text) => text !== '').join(', or ')
}

function personText({ name, username, role }: Person): string {
  const more = [...(name === undefined ? [] : [username]), role].filter((text) => text !== undefined)
  return `${name ?? username}${more.length > 0 ? ` (${more.join(', ')})` : ''}`
}

function channelText({ channel, url, tool }: SupportChannel): string {
  const more = [tool, url].filter((text) => text !== undefined)
  return `${channel}${more.length > 0 ? ` (${more.join(', ')})` : ''}`
}
