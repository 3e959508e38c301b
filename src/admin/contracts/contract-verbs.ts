/** `covenant validate | plan | diff | apply | export`: contracts and settings in files, against a running service. */

import { Fault } from '../../base/fault.ts'
import { runPolicyTests } from '../../contract/policy-tests/run-policy-tests.ts'
import type { DocumentProblem } from '../../wire/odcs/problem.ts'
import { applySettings } from '../desired/apply-desired.ts'
import { type DesiredFolder, readDesiredFolder } from '../desired/desired-files.ts'
import { digestOf, outcomeOfSettings, type SettingsPlan } from '../desired/desired-plan.ts'
import { describeSettingProblem, planOfSettings, soundSettings } from '../desired/desired-run.ts'
import { settingsText, settingsView } from '../desired/print-desired.ts'
import { openSettingsService } from '../desired/settings-service.ts'
import { exitStatus, reportFailure, UsageError } from '../exit-status.ts'
import { type ServiceAddress, serviceAddress } from '../service-address.ts'
import type { Terminal } from '../terminal.ts'
import { followVersions } from './await-versions.ts'
import { type ContractArguments, type ContractVerb, readArguments } from './contract-arguments.ts'
import { type ContractFolder, describeFileProblem, readContractFolder } from './contract-files.ts'
import { contractHelp, contractStatus } from './contract-help.ts'
import { type ContractService, openContractService, type ShownVersion } from './contract-service.ts'
import { exportFolder } from './export-folder.ts'
import { makePlan, outcomeOf, type Plan } from './make-plan.ts'
import { type PlanFile, planFileOf, proposalsOf, readPlanFile, writeWhole } from './plan-file.ts'
import { differencesText, planText, planView } from './print-plan.ts'

interface Run {
  readonly args: ContractArguments
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly pollMs: number
}

/** Milliseconds between two looks at a version that is waited for. */
const pollMsDefault = 2_000

/**
 * Runs one of the verbs. It never throws.
 * @returns the exit status
 */
export async function runContractVerb(
  verb: ContractVerb,
  words: readonly string[],
  terminal: Terminal,
  { pollMs = pollMsDefault }: { readonly pollMs?: number } = {},
): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(contractHelp[verb])
    return exitStatus.done
  }
  let signal: AbortSignal | undefined
  try {
    const args = readArguments(verb, words, terminal.env)
    signal = terminal.interrupted?.() ?? new AbortController().signal
    return await verbs[verb]({ args, terminal, signal, pollMs })
  } catch (error) {
    if (signal?.aborted) {
      terminal.complain('Interrupted. What was applied or proposed stays, and applying again goes on.')
      return exitStatus.interrupted
    }
    return reportFailure(error, `covenant ${verb}`, terminal)
  }
}

const verbs: Readonly<Record<ContractVerb, (run: Run) => Promise<number>>> = {
  validate,
  test: testContracts,
  plan,
  diff,
  apply,
  export: exportContracts,
}

async function validate({ args, terminal }: Run): Promise<number> {
  const settings = await readDesiredFolder(args.place)
  const { files, problems } = await readContractFolder(args.place, { mayBeEmpty: settings.files.length > 0 })
  if (args.json)
    terminal.print(
      JSON.stringify(
        {
          contracts: files.map(({ id, file }) => ({ id, file })),
          ...(settings.files.length > 0 && { settings: settings.files }),
          problems: [
            ...problems,
            ...settings.problems.map((one) => ({ ...one, severity: 'error' as const })),
          ],
        },
        undefined,
        2,
      ),
    )
  else {
    for (const problem of problems) terminal.print(describeFileProblem(problem))
    for (const problem of settings.problems) terminal.print(describeSettingProblem(problem))
    const errors = problems.filter(({ severity }) => severity === 'error').length
    const ofSettings = settings.files.length === 0 ? '' : `${settings.files.length} file(s) of settings, `
    const all = errors + settings.problems.length
    terminal.print(
      `${files.length} contract(s), ${ofSettings}${all} error(s), ${problems.length - errors} warning(s).`,
    )
  }
  const fails =
    settings.problems.length > 0 ||
    problems.some(({ severity }) => severity === 'error' || args.failOn === 'warning')
  return fails ? exitStatus.failed : exitStatus.done
}

async function testContracts({ args, terminal }: Run): Promise<number> {
  const { files, problems } = await readContractFolder(args.place)
  const results = files.flatMap(({ file, id, model }) =>
    runPolicyTests(model).map((one) => ({ file, id, ...one })),
  )
  const failed = results.filter(({ problem }) => problem !== undefined).length
  // A failed test is told with its object; the others say why a document cannot be tested.
  const errors = problems.filter(
    ({ file, severity }) => severity === 'error' && !files.some((one) => one.file === file),
  )
  for (const problem of errors) terminal.complain(describeFileProblem(problem))
  if (args.json) terminal.print(JSON.stringify({ results }, undefined, 2))
  else {
    for (const { file, object, name, problem } of results)
      terminal.print(
        `${problem === undefined ? 'pass' : 'FAIL'} ${file}: ${object}, ${name}${problem === undefined ? '' : `: ${problem}`}`,
      )
    terminal.print(`${results.length - failed} passed, ${failed} failed.`)
  }
  return failed + errors.length > 0 ? exitStatus.failed : exitStatus.done
}

/** The folder, where nothing in it is wrong; else its errors are told, and there is none. */
async function soundFolder(
  folder: string,
  { complain }: Terminal,
  bounds: Parameters<typeof readContractFolder>[1] = {},
): Promise<ContractFolder | undefined> {
  const read = await readContractFolder(folder, bounds)
  const errors = read.problems.filter(({ severity }) => severity === 'error')
  for (const problem of errors) complain(describeFileProblem(problem))
  return errors.length > 0 ? undefined : read
}

async function addressOf({ args, terminal }: Run): Promise<ServiceAddress> {
  const address = await serviceAddress(args, terminal.env)
  if (address === undefined) throw new UsageError('Name the service with --url or COVENANT_URL')
  return address
}

async function serviceOf(run: Run): Promise<ContractService> {
  return openContractService(await addressOf(run), run.signal)
}

/** What a folder holds, and what applying that would change. */
interface WholePlan {
  readonly contracts: Plan
  readonly folder: ContractFolder
  /** Absent where the folder has no such file. */
  readonly settings?: SettingsPlan
}

/** Reads a folder; where something in it is wrong, that is told, and there is none. */
async function soundFiles(
  place: string,
  terminal: Terminal,
): Promise<{ readonly folder: ContractFolder; readonly settings: DesiredFolder } | undefined> {
  const settings = await soundSettings(place, terminal)
  const folder = await soundFolder(place, terminal, { mayBeEmpty: settings?.files.length !== 0 })
  return folder === undefined || settings === undefined ? undefined : { folder, settings }
}

async function planFiles(
  run: Run,
  address: ServiceAddress,
  { folder, settings }: NonNullable<Awaited<ReturnType<typeof soundFiles>>>,
  {
    prune,
    pruneSettings,
    managedBy,
  }: { readonly prune: boolean; readonly pruneSettings: boolean; readonly managedBy: string },
): Promise<WholePlan> {
  const { terminal, signal } = run
  const planned = await planOfSettings(address, settings, {
    ...{ env: terminal.env, signal, prune: pruneSettings },
  })
  // A folder of settings alone has no say about contracts.
  const contracts =
    folder.files.length === 0
      ? { managedBy, contracts: [], elsewhere: [] }
      : await makePlan(openContractService(address, signal), folder, { managedBy, prune })
  return { contracts, folder, ...(planned && { settings: planned }) }
}

/** The plan as lines. */
function wholeText({ contracts, folder, settings }: WholePlan): string {
  return [
    ...(settings === undefined ? [] : [settingsText(settings)]),
    ...(folder.files.length === 0 ? [] : [planText(contracts)]),
  ].join('\n')
}

function wholeView({ contracts, settings }: WholePlan) {
  return { ...planView(contracts), ...(settings && { settings: settingsView(settings) }) }
}

function wholeOutcome({ contracts, settings }: WholePlan): ReturnType<typeof outcomeOf> {
  const both = [outcomeOf(contracts), settings === undefined ? 'none' : outcomeOfSettings(settings)] as const
  return (['problem', 'breaking', 'changes'] as const).find((one) => both.includes(one)) ?? 'none'
}

async function plan(run: Run): Promise<number> {
  const { args, terminal } = run
  const address = await addressOf(run)
  const files = await soundFiles(args.place, terminal)
  if (files === undefined) return exitStatus.failed
  const made = await planFiles(run, address, files, args)
  if (args.out !== undefined) {
    const steps = planFileOf(
      made.contracts,
      args.place,
      new URL(address.url).origin,
      settingsIn(made, args.pruneSettings),
    )
    await writeWhole(args.out, `${JSON.stringify(steps, undefined, 2)}\n`)
  }
  terminal.print(args.json ? JSON.stringify(wholeView(made), undefined, 2) : wholeText(made))
  return contractStatus[wholeOutcome(made)]
}

function settingsIn({ settings }: WholePlan, prune: boolean): PlanFile['settings'] {
  return settings && { digest: digestOf(settings), prune }
}

async function diff(run: Run): Promise<number> {
  const { args, terminal } = run
  const address = await addressOf(run)
  const files = await soundFiles(args.place, terminal)
  if (files === undefined) return exitStatus.failed
  const made = await planFiles(run, address, files, {
    ...{ managedBy: args.managedBy, prune: false, pruneSettings: false },
  })
  const lines = [
    ...(made.settings === undefined ? [] : [settingsText(made.settings)]),
    ...(made.folder.files.length === 0 ? [] : [differencesText(made.contracts)]),
  ]
  terminal.print(args.json ? JSON.stringify(wholeView(made), undefined, 2) : lines.join('\n'))
  if (made.contracts.contracts.some(({ comparison }) => comparison?.breaking)) return contractStatus.breaking
  const differs =
    made.settings?.settings.some(({ action }) => action !== 'none') ||
    made.contracts.contracts.some(
      (one) => one.differences.length > 0 || one.action !== 'none' || one.drift.length > 0,
    )
  return differs ? contractStatus.changes : contractStatus.none
}

async function apply(run: Run): Promise<number> {
  const { args, terminal } = run
  const address = await addressOf(run)
  const { origin } = new URL(address.url)
  const written = args.place.endsWith('.json') ? await readPlanFile(args.place) : undefined
  if (written !== undefined && written.service !== origin)
    throw new UsageError('The plan was made for another service')
  const files = await soundFiles(written?.folder ?? args.place, terminal)
  if (files === undefined) return exitStatus.failed
  const asked =
    written === undefined
      ? args
      : { managedBy: written.managed_by, prune: false, pruneSettings: written.settings?.prune === true }
  // The contracts of a plan's file are known by their hashes, and what they change is not asked again.
  const made =
    written === undefined
      ? await planFiles(run, address, files, asked)
      : await planFiles(run, address, { ...files, folder: { files: [], problems: [] } }, asked)
  const planned = settingsIn(made, asked.pruneSettings)
  if (written !== undefined && !Bun.deepEquals(planned, written.settings))
    throw new Error('The settings or their files have changed since the plan was made. Plan again.')
  if (wholeOutcome(made) === 'problem') {
    terminal.complain(wholeText(made))
    terminal.complain('Nothing was applied.')
    return exitStatus.failed
  }
  if (!args.json && wholeText(made) !== '') terminal.print(wholeText(made))
  const told = args.json ? terminal.complain : terminal.print
  const settings =
    made.settings === undefined
      ? []
      : await applySettings(openSettingsService(address, run.signal), made.settings, {
          secrets: args.secrets,
          tell: told,
        })
  const steps = written ?? planFileOf(made.contracts, args.place, origin, undefined)
  const service = openContractService(address, run.signal)
  const proposed = await propose(service, steps, files.folder)
  const waiting = written === undefined ? await versionsOnTheirWay(service, made.contracts) : []
  const versions = await followVersions(service, [...proposed, ...waiting], {
    ...{ deploy: args.deploy, wait: args.wait, timeoutMs: args.timeoutMs },
    ...{ pollMs: run.pollMs, signal: run.signal, tell: told },
  })
  for (const { id } of steps.deprecate) told(`${id} is deprecated`)
  if (args.json)
    terminal.print(
      JSON.stringify(
        {
          ...(made.settings && { settings }),
          ...{ versions, deprecated: steps.deprecate.map(({ id }) => id) },
        },
        undefined,
        2,
      ),
    )
  return exitStatus.done
}

async function propose(
  service: ContractService,
  steps: PlanFile,
  folder: ContractFolder,
): Promise<readonly ShownVersion[]> {
  const proposals = proposalsOf(steps, folder)
  if (proposals.documents.length + proposals.deprecate.length === 0) return []
  try {
    return await service.propose(proposals)
  } catch (thrown) {
    throw inFile(thrown, steps)
  }
}

/** A refusal of one document, with its file and lines. */
function inFile(thrown: unknown, { propose: wanted }: PlanFile): unknown {
  if (!(thrown instanceof Fault)) return thrown
  const { contract, problems } = (thrown.members ?? {}) as {
    readonly contract?: string
    readonly problems?: readonly DocumentProblem[]
  }
  const file = wanted.find(({ id }) => id === contract)?.file
  if (file === undefined) return thrown
  const lines = (problems ?? []).map((one) => describeFileProblem({ ...one, file, severity: 'error' }))
  return new Fault(thrown.kind, [`${file}: ${thrown.publicMessage}`, ...lines].join('\n'))
}

async function versionsOnTheirWay(service: ContractService, made: Plan): Promise<readonly ShownVersion[]> {
  const found: ShownVersion[] = []
  for (const { id, waiting } of made.contracts)
    if (waiting !== undefined) found.push(await service.version(id, waiting.number))
  return found
}

async function exportContracts(run: Run): Promise<number> {
  const { args, terminal, signal } = run
  const service = await serviceOf(run)
  const present = await soundFolderOrNone(args.place, terminal)
  if (present === undefined) return exitStatus.failed
  const done = await exportFolder(service, args.place, present, { overwrite: args.overwrite, signal })
  if (args.json) terminal.print(JSON.stringify({ contracts: done }, undefined, 2))
  else for (const { file, id, outcome } of done) terminal.print(`${outcome.padEnd(8)}${file}  (${id})`)
  if (!done.some(({ outcome }) => outcome === 'differs')) return exitStatus.done
  terminal.complain('Some files say something else and were left; --overwrite writes them.')
  return exitStatus.failed
}

/** As {@link soundFolder}; a folder that is not there is empty. */
async function soundFolderOrNone(folder: string, terminal: Terminal): Promise<ContractFolder | undefined> {
  const isThere = await Bun.file(folder)
    .stat()
    .then(
      () => true,
      () => false,
    )
  return isThere ? await soundFolder(folder, terminal, { mayBeEmpty: true }) : { files: [], problems: [] }
}
