/**
 * `bun run audit`: asks the registry for advisories about the packages of production, and fails on those of high
 * severity or above that nobody has accepted. Bun asks, by the machine's own settings. It changes no package.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Advisory, acceptedIn, advisoriesIn, expired, judge } from './release/advisories.ts'

const help = `Usage: npm run audit -- [--skip-unreachable] [--accepted FILE] [--save FILE | --from FILE]

Fails on published advisories of high severity or above about what bun.lock pins for production.

  --skip-unreachable  where the registry does not tell advisories, say so and exit with 0
  --accepted FILE     advisories that do not fail; default: scripts/release/accepted-advisories.json,
                      a list of {"id", "package", "reason", "until"}; one whose day is over fails
  --save FILE         also write the answer to FILE, for a machine without network
  --from FILE         take the answer from FILE, which --save wrote for the same bun.lock within seven days
  --help              this text

Exit status: 0 none, 1 some, or an acceptance is over, 64 wrong usage, 69 the registry does not tell.`

const home = new URL('..', import.meta.url).pathname
const patienceMs = 20_000
const savedForMs = 7 * 86_400_000

/** Says to the user why there are no advisories. */
class NoAnswer extends Error {}

/** The form of a saved answer. */
interface Saved {
  readonly at: string
  /** The SHA-256 of bun.lock. */
  readonly lock: string
  readonly answer: unknown
}

const lockHash = () =>
  new Bun.CryptoHasher('sha256').update(readFileSync(join(home, 'bun.lock'))).digest('hex')

/** @throws NoAnswer where the registry does not tell */
async function ask(): Promise<unknown> {
  const child = Bun.spawn([process.execPath, 'audit', '--production', '--json'], {
    cwd: home,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: patienceMs,
  })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  await child.exited
  if (child.signalCode !== null) throw new NoAnswer(`no answer within ${patienceMs / 1000} seconds`)
  try {
    return JSON.parse(out)
  } catch {
    // It names the address of the registry, which this machine knows.
    const reason = /- (\S+)\s*$/.exec(err)?.[1]
    throw new NoAnswer(`the registry does not tell advisories${reason === undefined ? '' : ` (${reason})`}`)
  }
}

/** @throws Error where it is of another lock file, or old */
function saved(path: string, now: Date): unknown {
  const { at, lock, answer } = JSON.parse(readFileSync(path, 'utf8')) as Saved
  if (lock !== lockHash()) throw new Error(`${path} was saved for another bun.lock.`)
  // A time that is none fails, too.
  if (!(Math.abs(now.getTime() - Date.parse(at)) <= savedForMs))
    throw new Error(`${path} was saved more than seven days ago.`)
  return answer
}

function readArguments() {
  try {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean' } as const
    const options = { 'skip-unreachable': flag, accepted: text, save: text, from: text, help: flag }
    const { values } = parseArgs({ options })
    return values.save !== undefined && values.from !== undefined ? undefined : values
  } catch {
    return undefined
  }
}

const line = ({ package: name, id, severity, title, url }: Advisory) =>
  `${name}: ${severity}: ${title} (${id}, ${url})`

async function main(): Promise<number> {
  const values = readArguments()
  if (values === undefined || values.help) {
    console[values === undefined ? 'error' : 'log'](help)
    return values === undefined ? 64 : 0
  }
  const now = new Date()
  const today = now.toISOString().slice(0, 10)
  const file = values.accepted ?? join(home, 'scripts/release/accepted-advisories.json')
  const accepted = acceptedIn(JSON.parse(readFileSync(file, 'utf8')))
  const over = expired(accepted, today)
  for (const { id, package: name, until } of over)
    console.log(`FAILED ${name}: ${id} was accepted until ${until}`)
  let answer: unknown
  try {
    answer = values.from === undefined ? await ask() : saved(values.from, now)
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    const isSkipped = values['skip-unreachable'] === true
    console.log(`${isSkipped ? 'skipped' : 'not done'}: advisories: ${error.message}`)
    if (over.length > 0) return 1
    return isSkipped ? 0 : 69
  }
  const { failing, ...rest } = judge(advisoriesIn(answer), accepted, today)
  if (values.save !== undefined) {
    const kept: Saved = { at: now.toISOString(), lock: lockHash(), answer }
    writeFileSync(values.save, `${JSON.stringify(kept)}\n`)
  }
  for (const advisory of failing) console.log(`FAILED ${line(advisory)}`)
  for (const advisory of rest.accepted) console.log(`accepted ${line(advisory)}`)
  for (const advisory of rest.minor) console.log(`minor ${line(advisory)}`)
  for (const { id, package: name } of rest.unused)
    console.log(`nobody reports ${id} of ${name}: remove it from ${file}`)
  const failed = failing.length + over.length
  // The form of `bun test`, which .ci/run adds up.
  console.log(` ${failed === 0 ? 1 : 0} pass\n ${failed} fail`)
  return failed === 0 ? 0 : 1
}

try {
  process.exit(await main())
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
