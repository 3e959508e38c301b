/**
 * The sessions of XMLA clients, in the memory of this process. A session belongs to the principal and the catalog with
 * which it began; its id is no credential, and every request is authenticated again.
 */

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { SessionFormula } from '../../semantics/mdx/session.ts'
import type { XmlaBounds } from './bounds.ts'

/** What a session is bound to. */
export interface SessionOwner {
  readonly tenant: string
  readonly sub: string
  readonly catalog: string
}

const keyOf = ({ tenant, sub, catalog }: SessionOwner) => JSON.stringify([tenant, sub, catalog])

export interface XmlaSession {
  /** 128 random bits, in hex. */
  readonly id: string
  /** The number by which clients cancel and list it. It is no secret. */
  readonly spid: number
  readonly owner: SessionOwner
  /** Of the latest request. */
  connectionId: number
  readonly startedMs: number
  /** Statements under way, which Cancel ends. */
  readonly running: Set<AbortController>
  /** Members and sets that MDX defined for the session, and their characters as JSON. */
  formulas: readonly SessionFormula[]
  formulaChars: number
  lastMs: number
}

export class XmlaSessions {
  readonly #byId = new Map<string, XmlaSession>()
  readonly #counts = new Map<string, number>()
  #lastSpid = 0

  constructor(
    readonly bounds: Pick<
      XmlaBounds,
      'sessionsMax' | 'principalSessionsMax' | 'sessionIdleMs' | 'principalFormulaCharsMax'
    >,
    readonly clock: Clock,
  ) {}

  get count(): number {
    return this.#byId.size
  }

  /** Begins a session. @throws Fault `overloaded` where none may be added, because all are in use */
  begin(owner: SessionOwner, connectionId = 0): XmlaSession {
    this.#endIdle()
    const key = keyOf(owner)
    if ((this.#counts.get(key) ?? 0) >= this.bounds.principalSessionsMax)
      this.#endOldest((session) => keyOf(session.owner) === key)
    if (this.#byId.size >= this.bounds.sessionsMax) this.#endOldest(() => true)
    const session: XmlaSession = {
      ...{ id: randomBytes(16).toString('hex'), spid: ++this.#lastSpid, owner, connectionId },
      ...{ startedMs: this.clock.now(), lastMs: this.clock.now() },
      running: new Set<AbortController>(),
      formulas: [],
      formulaChars: 0,
    }
    this.#byId.set(session.id, session)
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    return session
  }

  /** The session of an id, if it is the owner's. An unknown id and another's look the same. */
  find(id: string, owner: SessionOwner): XmlaSession | undefined {
    const session = this.#byId.get(id)
    if (session === undefined || keyOf(session.owner) !== keyOf(owner)) return undefined
    if (this.#isOver(session)) {
      this.end(session)
      return undefined
    }
    session.lastMs = this.clock.now()
    // The order of the map is that of use.
    this.#byId.delete(id)
    this.#byId.set(id, session)
    return session
  }

  /** Defines members and sets. @throws Fault `unprocessable` where the principal's sessions would hold too many */
  define(session: XmlaSession, formulas: readonly SessionFormula[]): void {
    const { tenant, sub } = session.owner
    const chars = JSON.stringify(formulas).length
    const others = this.all().filter(
      (each) => each !== session && each.owner.tenant === tenant && each.owner.sub === sub,
    )
    const held = others.reduce((sum, { formulaChars }) => sum + formulaChars, 0)
    if (chars > session.formulaChars && held + chars > this.bounds.principalFormulaCharsMax)
      throw new Fault(
        'unprocessable',
        'Your sessions define too many members and sets. Drop some, or end a session.',
      )
    session.formulas = formulas
    session.formulaChars = chars
  }

  /** Those that have not ended, the least recently used first. */
  all(): readonly XmlaSession[] {
    this.#endIdle()
    return [...this.#byId.values()]
  }

  end(session: XmlaSession): void {
    if (!this.#byId.delete(session.id)) return
    for (const controller of session.running) controller.abort()
    const key = keyOf(session.owner)
    const left = (this.#counts.get(key) ?? 1) - 1
    if (left === 0) this.#counts.delete(key)
    else this.#counts.set(key, left)
  }

  #isOver({ running, lastMs }: XmlaSession): boolean {
    return running.size === 0 && this.clock.now() - lastMs > this.bounds.sessionIdleMs
  }

  #endIdle(): void {
    for (const session of this.#byId.values()) if (this.#isOver(session)) this.end(session)
  }

  #endOldest(isMeant: (session: XmlaSession) => boolean): void {
    const found = [...this.#byId.values()].find((session) => session.running.size === 0 && isMeant(session))
    if (found === undefined) throw new Fault('overloaded', 'There are too many sessions at work. Retry.')
    this.end(found)
  }
}
