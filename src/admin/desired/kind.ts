/** What a kind of setting that is kept in files must say of itself: how it is found, compared, put and removed. */

import type { ReadableSchema } from '../../http/read-value.ts'

/** A value of JSON with plain objects. */
export type Plain = Readonly<Record<string, unknown>>

/** Whose a setting is: of the session's own tenant, of a tenant that the operator names, or of the installation. */
export type Side = 'own' | 'tenant' | 'installation'

/** One request that brings the service to what a file says. */
export interface Step {
  /** As it is named for the session's own tenant. */
  readonly operation: string
  readonly input: Plain
  /** What keeps the rest from being done, as one sentence. */
  readonly problem?: (output: unknown) => string | undefined
  /** What is left to do once it was answered. */
  readonly next?: (output: unknown) => readonly Step[]
}

/** What the service has. */
export interface Found {
  readonly name: string
  /** In the members of a file, so that both can be compared. */
  readonly value: Plain
  /** What the operations that change it need besides. */
  readonly key?: Plain
  /** Why it is never removed, as a sentence without a full stop. */
  readonly stays?: string
}

/** Asks the service, for the tenant that the settings are of. */
export interface Ask {
  run(operation: string, input?: Plain): Promise<unknown>
  every<Item>(operation: string, input?: Plain): Promise<readonly Item[]>
}

/** A member whose value is that of an environment variable. */
interface FromEnvironment {
  readonly from_env: string
}

export interface Kind {
  /** The members of a file that lead to it. */
  readonly at: readonly [string, ...string[]]
  readonly sides: readonly Side[]
  /** Whether there is one, and not one by each name. */
  readonly single?: true
  /** What one of them says. */
  readonly entry: ReadableSchema
  readonly find: (ask: Ask) => Promise<readonly Found[]>
  /** The file's words in the form of {@link Found.value}; what it leaves open is as the service has it, or its default. */
  readonly wanted: (name: string, said: Plain, found: Found | undefined) => Plain
  /** The requests. In `said` the values of environment variables stand where the file names them. */
  readonly put: (name: string, said: Plain, found: Found | undefined) => readonly Step[]
  /** Absent where it is never removed. */
  readonly remove?: (found: Found) => readonly Step[]
  /** What a file may not say, as a sentence without a full stop. */
  readonly refuses?: (said: Plain) => string | undefined
  /** The sentence without a full stop for one that is there and differs; absent where it can be changed. */
  readonly unchangeable?: string
  /** Why a new one is not made, as a sentence without a full stop; for one whose time is over. */
  readonly over?: (said: Plain) => string | undefined
  /** What of the file's words cannot be compared, because the service does not show it: their names. */
  readonly hidden?: (said: Plain) => readonly string[]
  /** Whether making it shows a secret that is not shown again. */
  readonly showsSecret?: true
}

/** Whether a value of a file stands for an environment variable. */
export function isFromEnvironment(value: unknown): value is FromEnvironment {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const [[name, variable] = [], ...more] = Object.entries(value)
  return more.length === 0 && name === 'from_env' && typeof variable === 'string'
}
