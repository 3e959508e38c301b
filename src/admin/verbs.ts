/**
 * The verbs of the command `covenant`, and its own help and version. A verb's module is loaded only when it runs, so
 * that a call of the command line does not wait for the modules of the service.
 */

import { version } from '../../package.json'
import { exitStatus, exitStatusHelp } from './exit-status.ts'
import type { Terminal } from './terminal.ts'

/** One verb of `covenant`. */
interface Verb {
  readonly name: string
  /** One line of the help. */
  readonly summary: string
  /**
   * Runs the verb with the words after it; it answers `--help` itself, and reports its own failures.
   * @returns the exit status; undefined where the process goes on, as a service does
   */
  readonly run: (words: readonly string[], terminal: Terminal) => Promise<number | undefined>
}

const verbs: readonly Verb[] = [
  {
    name: 'serve',
    summary: 'Starts the service.',
    run: async (words, terminal) => (await import('./serve.ts')).serve(words, terminal),
  },
  {
    name: 'check',
    summary: 'Checks the settings in the environment and starts nothing.',
    run: async (words, terminal) => (await import('./check.ts')).check(words, terminal),
  },
  {
    name: 'migrate',
    summary: 'Applies pending migrations to the database, or lists them.',
    run: async (words, terminal) => (await import('./migrate.ts')).migrateDatabase(words, terminal),
  },
  {
    name: 'move',
    summary: 'Moves the embedded store to an empty PostgreSQL database.',
    run: async (words, terminal) => (await import('./move.ts')).move(words, terminal),
  },
  {
    name: 'compare',
    summary: 'Says where the catalogs differ from the audit, as after a restore.',
    run: async (words, terminal) => (await import('./compare.ts')).compare(words, terminal),
  },
  {
    name: 'admin',
    summary: 'Administers tenants, sessions, catalogs and policies, and reads the records.',
    run: async (words, terminal) => (await import('./admin.ts')).admin(words, terminal),
  },
  ...(
    [
      ['validate', 'Checks a folder of contract documents; asks no service.'],
      ['test', 'Runs the policy tests of a folder of contract documents; asks no service.'],
      ['plan', 'Says what applying the folder would change on a service, and whom it breaks.'],
      ['diff', 'Lists where the folder differs from the documents in force.'],
      ['apply', 'Proposes the documents of the folder that differ.'],
      ['export', 'Writes the documents in force to the folder.'],
    ] as const
  ).map(
    ([name, summary]): Verb => ({
      name,
      summary,
      run: async (words, terminal) =>
        (await import('./contracts/contract-verbs.ts')).runContractVerb(name, words, terminal),
    }),
  ),
  {
    name: 'import',
    summary: 'Converts contract documents of the Data Contract Specification to the standard.',
    run: async (words, terminal) =>
      (await import('./contracts/import-verb.ts')).importContracts(words, terminal),
  },
  {
    name: 'adopt',
    summary: 'Proposes documents for the tables of a catalog that have no contract.',
    run: async (words, terminal) => (await import('./adopt-verb.ts')).adopt(words, terminal),
  },
  {
    name: 'coverage',
    summary: 'Counts the tables that contracts do not cover well, and lists those of one kind.',
    run: async (words, terminal) => (await import('./coverage-verb.ts')).showCoverage(words, terminal),
  },
  {
    name: 'evidence',
    summary: 'Writes what is on record of a table between two times into a folder.',
    run: async (words, terminal) =>
      (await import('./evidence/evidence-verb.ts')).writeEvidence(words, terminal),
  },
  {
    name: 'verify',
    summary: 'Checks checkpoints and proofs of the audit; asks no service.',
    run: async (words, terminal) => (await import('./verify-verb.ts')).verify(words, terminal),
  },
  {
    name: 'call',
    summary: 'Runs any operation of a running service by its name, or lists them.',
    run: async (words, terminal) => (await import('./call-verb.ts')).callOperation(words, terminal),
  },
  {
    name: 'replay',
    summary: 'Tries a draft policy on stored commits, and fails where it would deny too many of them.',
    run: async (words, terminal) => (await import('./replay-verb.ts')).replay(words, terminal),
  },
  {
    name: 'transform',
    summary:
      'Shows rows before and after the transform plan of a table, or the plan as SQL; rules and subjects.',
    run: async (words, terminal) => {
      const named = ['transform', ...words]
      if ((await import('./named/named-verbs.ts')).findNamed(named) !== undefined)
        return await (await import('./named/run-named.ts')).runNamed(named, terminal)
      return await (await import('./transform-verb.ts')).transform(words, terminal)
    },
  },
  {
    name: 'keys',
    summary: 'Keys of the tenant and the service: their ages, their turn, and what a lost one takes with it.',
    run: async (words, terminal) => {
      if (words[0] === 'lost') return (await import('./keys-lost.ts')).keysLost(words.slice(1), terminal)
      return await (await import('./named/run-named.ts')).runNamed(['keys', ...words], terminal)
    },
  },
  ...(
    [
      ['login', 'Remembers a service and a session, or logs a person in by a code.'],
      ['logout', 'Forgets them.'],
      ['profiles', 'Lists what login remembers, chooses one, or removes it.'],
    ] as const
  ).map(
    ([name, summary]): Verb => ({
      name,
      summary,
      run: async (words, terminal) =>
        (await import('./profiles/login-verb.ts')).runProfileVerb(name, words, terminal),
    }),
  ),
  {
    name: 'license',
    summary: 'Shows a license, issues one, or makes a signing key.',
    run: async (words, terminal) => (await import('./license.ts')).license(words, terminal),
  },
  {
    name: 'version',
    summary: 'Shows the version, and whether the store can be upgraded to it.',
    run: async (words, terminal) => (await import('./version-verb.ts')).showVersion(words, terminal),
  },
  {
    name: 'completion',
    summary: 'Prints the script by which bash, zsh or fish completes the words of covenant.',
    run: async (words, terminal) => (await import('./completion.ts')).complete(words, terminal, all),
  },
]

/** Groups of verbs by name: each verb of them runs one operation of a service. */
const groups: readonly (readonly [name: string, summary: string])[] = [
  ['contract', 'Contracts, versions, masks, filters, tags and pins on a service.'],
  ['findings', 'Findings of personal data, and decisions on them.'],
  ['classifiers', 'Classifiers by which detection finds more.'],
  ['checks', 'Runs of checks and their results.'],
  ['metrics', 'Metrics, their versions and attestations.'],
  ['glossary', 'Terms of the business.'],
  ['models', 'Keys, dimensions and relationships of tables.'],
  ['loosenings', 'Changes that loosen who sees what, and their signatures.'],
  ['access', 'Access that is asked for, granted for a time, and ends.'],
  ['settings', 'Settings of the tenant.'],
  ['usage', 'Who read what, and totals of it.'],
  ['explain', 'What a statement would read, and which policies apply.'],
  ['as-seen-by', 'A table as a person or role sees it.'],
  ['who-can-read', 'Who can read a table, with the reasons.'],
  ['who-read', 'Who read a table between two times.'],
  ['changes', 'What was changed, and by whom.'],
  ['audit', 'Checkpoints of the audit, and proofs of what is in it.'],
  ['decisions', 'Decisions on commits, as a file.'],
  ['lineage', 'Datasets, jobs and runs of lineage.'],
  ['whoami', 'Tenant, principal, roles and scopes of your session.'],
  ['service', 'License and state of the service.'],
  ['issuers', 'Issuers of tokens that the tenant trusts.'],
  ['webhooks', 'A webhook of the tenant.'],
  ['policies', 'A policy, tried on a commit.'],
  ['graph', 'The graph, by Cypher.'],
  ['graphql', 'Stored operations of GraphQL.'],
]

const all: readonly Verb[] = [
  ...verbs,
  ...groups.map(
    ([name, summary]): Verb => ({
      name,
      summary,
      run: async (words, terminal) =>
        (await import('./named/run-named.ts')).runNamed([name, ...words], terminal),
    }),
  ),
]

/** The words without --profile, which every verb takes; completion gets them as they are. */
function withoutProfile(given: readonly string[]) {
  if (given[0] === 'completion') return { words: given, profile: undefined, isWrong: false }
  const words: string[] = []
  const names: string[] = []
  const end = given.indexOf('--')
  for (let at = 0; at < given.length; at++) {
    const word = given[at] ?? ''
    const isBefore = end < 0 || at < end
    if (isBefore && word === '--profile') names.push(given[++at] ?? '')
    else if (isBefore && word.startsWith('--profile=')) names.push(word.slice('--profile='.length))
    else words.push(word)
  }
  return { words, profile: names[0], isWrong: names.length > 1 || names[0] === '' }
}

const help = `Usage: covenant <verb> [words]

${all.map(({ name, summary }) => `  ${name.padEnd(13)}${summary}`).join('\n')}

  --help      this text; after a verb, that verb's
  --version   the version
  --profile NAME   a service that covenant login remembers; for every verb that asks one

Settings of serve, check, migrate, move, compare and admin are environment variables: docs/configuration.md.
${exitStatusHelp}`

/**
 * Runs `covenant …words`. It never throws.
 * @returns the exit status; undefined where the process goes on
 */
export async function runCovenant(given: readonly string[], before: Terminal): Promise<number | undefined> {
  const { words, profile, isWrong } = withoutProfile(given)
  const terminal =
    profile === undefined ? before : { ...before, env: { ...before.env, COVENANT_PROFILE: profile } }
  if (isWrong) {
    terminal.complain('--profile takes one name\nSee: covenant --help')
    return exitStatus.usage
  }
  const [first, ...rest] = words[0] === 'help' ? [...words.slice(1), '--help'] : words
  if (first === undefined || first === '--help') {
    terminal.print(help)
    return exitStatus.done
  }
  if (first === '--version') {
    terminal.print(`covenant ${version}`)
    return exitStatus.done
  }
  const verb = all.find(({ name }) => name === first)
  if (verb !== undefined) return await verb.run(rest, terminal)
  // Not quoted, because it may be a secret in the wrong place.
  terminal.complain(`There is no such verb. Usage: covenant ${all.map(({ name }) => name).join('|')}`)
  return exitStatus.usage
}
