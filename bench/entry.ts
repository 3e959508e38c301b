/** Defines a benchmark for the command line: a name, options, and results as they come. */

/** A mistake in the user's arguments. The message says what to do. */
export class BenchUsageError extends Error {}

export interface BenchOption {
  readonly type: 'string' | 'boolean'
  /** As the help shows it: `MS[,MS…]`. */
  readonly value?: string
  readonly about: string
}

export interface BenchResult {
  readonly bench: string
  /** What was measured: the dimensions of the case. */
  readonly case: Readonly<Record<string, string | number | boolean>>
  /** Numbers. Each name ends in its unit. */
  readonly figures: Readonly<Record<string, number>>
  /** Whether the figures keep a bound, if there is one. */
  readonly verdict?: string
}

export interface BenchRun {
  /** Takes seconds in all: tiny sizes, no verdict. */
  readonly smoke: boolean
  readonly full: boolean
  readonly seed: number
  readonly flags: BenchFlags
  /** Reports progress to a person; never a result. */
  readonly note: (line: string) => void
}

export interface BenchEntry {
  readonly name: string
  readonly about: string
  readonly options: Readonly<Record<string, BenchOption>>
  /** @throws BenchUsageError */
  run(run: BenchRun): AsyncIterable<BenchResult>
  /** One line about all of this entry's results; `failed` makes the command exit with 1. */
  conclude?(results: readonly BenchResult[]): { readonly line: string; readonly failed: boolean }
}

/** The flags of one command, parsed and checked. */
export class BenchFlags {
  constructor(readonly values: Readonly<Record<string, string | boolean | undefined>>) {}

  text(name: string): string | undefined {
    const value = this.values[name]
    return typeof value === 'string' ? value : undefined
  }

  /** Throws BenchUsageError when it is not a number from `min` to `max`. */
  number(name: string, min: number, max: number): number | undefined {
    return this.numbers(name, min, max)?.[0]
  }

  /** A comma-separated list. Throws BenchUsageError when an item is not a number from `min` to `max`. */
  numbers(name: string, min: number, max: number): readonly number[] | undefined {
    return this.text(name)
      ?.split(',')
      .map((item) => {
        const value = item.trim() === '' ? Number.NaN : Number(item)
        if (!(value >= min && value <= max))
          throw new BenchUsageError(`--${name}: \`${item}\` is not a number from ${min} to ${max}.`)
        return value
      })
  }

  /** A comma-separated list. Throws BenchUsageError when an item is not one of `choices`. */
  choices<T extends string>(name: string, choices: readonly T[]): readonly T[] | undefined {
    return this.text(name)
      ?.split(',')
      .map((item) => {
        const found = choices.find((choice) => choice === item.trim())
        if (found === undefined)
          throw new BenchUsageError(`--${name}: \`${item}\` is not one of ${choices.join(', ')}.`)
        return found
      })
  }
}

const storeKinds = ['embedded', 'postgres'] as const
export type StoreKind = (typeof storeKinds)[number]

export interface BenchStore {
  readonly kind: StoreKind
  readonly databaseUrl: string | undefined
}

/** The options of every entry that needs a store. */
export const storeOptions: Readonly<Record<string, BenchOption>> = {
  store: {
    type: 'string',
    value: 'embedded,postgres',
    about: 'stores to measure (default: embedded, and postgres where a server is named)',
  },
  'database-url': {
    type: 'string',
    value: 'URL',
    about:
      'PostgreSQL 18 with AGE, as a superuser (default: SVC_TEST_DATABASE_URL); databases are made in it',
  },
}

/** Throws BenchUsageError when PostgreSQL is chosen but no server is named. */
export function chosenStores({ flags, smoke }: BenchRun): readonly BenchStore[] {
  const databaseUrl = flags.text('database-url') ?? process.env.SVC_TEST_DATABASE_URL
  const kinds =
    flags.choices('store', storeKinds) ?? (databaseUrl === undefined || smoke ? ['embedded'] : storeKinds)
  return kinds.map((kind) => {
    if (kind === 'embedded') return { kind, databaseUrl: undefined }
    if (databaseUrl === undefined)
      throw new BenchUsageError('--store postgres needs --database-url or SVC_TEST_DATABASE_URL.')
    return { kind, databaseUrl }
  })
}
