/**
 * Starts the engine on what the same statement was run from before, while what it must be run from now is loaded.
 *
 * Why that is sound: an answer is a function of the load (credential, governed tables, snapshots), the statement
 * compiled from it, and parameters. Nothing of an attempt is looked at before a load that was begun for this very
 * run has come and is the same in all of these; then the attempt is the one that would have been begun now, only
 * earlier. Where it is not the same, or does not come, the attempt is ended unseen and the run goes on, or fails,
 * as if it had never been. So no cache answers for the store or the upstream, and a load that is kept is a guess
 * and never a fact. docs/adr/0007 says what a guess in vain costs.
 */

import { Lru } from '../base/lru.ts'
import { readEngineOf } from '../core/read-engine.ts'
import type { SqlType } from '../core/sql-type.ts'
import { limits } from '../limits.ts'
import { Attempt, type AttemptParts, type AttemptRun, type Load } from './attempt.ts'
import type { LoadContext } from './load-tables.ts'

interface Guess {
  readonly load: Load
  /** Whether the last load was as the one before: one that changes with every run would be guessed in vain. */
  readonly isSteady: boolean
}

/** The last loads of statements, by whose and which they are. */
export class Guesses {
  readonly #guesses = new Lru<string, Guess>(limits.guessedLoadBytes)

  /**
   * Begins an attempt on the last load of this statement.
   * @param key as guessKey makes it, of this run
   * @returns undefined where there is none that is worth it, whose parameters have their values, and whose engine
   *   is the embedded one: another system is asked for nothing on a guess
   */
  begin(key: string, parts: AttemptParts, run: AttemptRun): Attempt | undefined {
    const guess = this.#guesses.get(key)
    if (guess === undefined || !guess.isSteady) return undefined
    const { load } = guess
    if (load.compiled.parameters.length !== run.parameters.length) return undefined
    return readEngineOf(load.loaded.credential.config) === 'duckdb'
      ? new Attempt(parts, load, run)
      : undefined
  }

  /** The last load of this statement. @param key as in `begin` */
  last(key: string): Load | undefined {
    return this.#guesses.get(key)?.load
  }

  /** Keeps what a run has loaded for the next one's guess. */
  keep(key: string, load: Load): void {
    const known = this.#guesses.get(key)
    if (known?.isSteady && isSame(known.load, load)) return
    const isSteady = known === undefined || isSame(known.load, load)
    this.#guesses.set(key, { load, isSteady }, key.length + loadBytes(load))
  }

  /** Of a statement that could not be loaded or compiled. */
  forget(key: string): void {
    this.#guesses.delete(key)
  }
}

/** Everything by which a statement's tables are found and it is compiled, but for what is loaded. */
export function guessKey(
  { tenant, catalog, principal, searchPath }: LoadContext,
  text: string,
  parameterTypes: readonly (SqlType | undefined)[],
): string {
  return JSON.stringify([tenant, catalog, principal, searchPath, parameterTypes, text])
}

/**
 * The attempt, where it runs on what was loaded now; undefined once it has ended, where it does not.
 */
export async function proven(attempt: Attempt, load: Load): Promise<Attempt | undefined> {
  if (isSame(attempt.load, load)) return attempt
  // It must leave its place before another is asked for.
  await attempt.vacate()
  return undefined
}

/**
 * Whether an answer from one load is an answer from the other. The compiled statement is the same object only
 * where text, principal, search path, types and all that governs the tables are equal (CompileCache).
 */
function isSame(one: Load, other: Load): boolean {
  return (
    one.compiled === other.compiled &&
    Bun.deepEquals(one.loaded.credential, other.loaded.credential, true) &&
    Bun.deepEquals(one.loaded.snapshots, other.loaded.snapshots, true)
  )
}

/** What a load weighs by measure of its text, the statement compiled from it included. */
const loadWeight = 8

function loadBytes({ loaded: { tables, credential } }: Load): number {
  return loadWeight * JSON.stringify([tables, credential.config]).length
}
