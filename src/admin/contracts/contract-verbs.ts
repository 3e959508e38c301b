/** `covenant validate | plan | diff | apply | export`: contracts that are kept as files, against a running service. */

import { Fault } from '../../base/fault.ts'
import { runPolicyTests } from '../../contract/policy-tests/run-policy-tests.ts'
import type { DocumentProblem } from '../../wire/odcs/problem.ts'
import { exitStatus, reportFailure, UsageError } from '../exit-status.ts'
import { serviceAddress } from '../service-address.ts'
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
      terminal.complain('Interrupted. What was proposed goes on; nothing was left half done.')
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
  const { files, problems } = await readContractFolder(args.place)
  if (args.json)
    terminal.print(
      JSON.stringify({ contracts: files.map(({ id, file }) => ({ id, file })), problems }, undefined, 2),
    )
  else {
    for (const problem of problems) terminal.print(describeFileProblem(problem))
    const errors = problems.filter(({ severity }) => severity === 'error').length
    terminal.print(`${files.length} contract(s), ${errors} error(s), ${problems.length - errors} warning(s).`)
  }
  const fails = problems.some(({ severity }) => severity === 'error' || args.failOn === 'warning')
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

async function serviceOf({ args, terminal, signal }: Run): Promise<ContractService> {
  const address = await serviceAddress(args, terminal.env)
  if (address === undefined) throw new UsageError('Name the service with --url or COVENANT_URL')
  return openContractService(address, signal)
}

async function plan(run: Run): Promise<number> {
  const { args, terminal } = run
  const service = await serviceOf(run)
  const folder = await soundFolder(args.place, terminal)
  if (folder === undefined) return exitStatus.failed
  const made = await makePlan(service, folder, args)
  if (args.out !== undefined)
    await writeWhole(args.out, `${JSON.stringify(planFileOf(made, args.place, service), undefined, 2)}\n`)
  terminal.print(args.json ? JSON.stringify(planView(made), undefined, 2) : planText(made))
  return contractStatus[outcomeOf(made)]
}

async function diff(run: Run): Promise<number> {
  const { args, terminal } = run
  const service = await serviceOf(run)
  const folder = await soundFolder(args.place, terminal)
  if (folder === undefined) return exitStatus.failed
  const made = await makePlan(service, folder, { managedBy: args.managedBy, prune: false })
  terminal.print(args.json ? JSON.stringify(planView(made), undefined, 2) : differencesText(made))
  if (made.contracts.some(({ comparison }) => comparison?.breaking)) return contractStatus.breaking
  const differs = made.contracts.some(
    (one) => one.differences.length > 0 || one.action !== 'none' || one.drift.length > 0,
  )
  return differs ? contractStatus.changes : contractStatus.none
}

async function apply(run: Run): Promise<number> {
  const { args, terminal } = run
  const service = await serviceOf(run)
  const written = args.place.endsWith('.json') ? await readPlanFile(args.place) : undefined
  if (written !== undefined && written.service !== service.origin)
    throw new UsageError('The plan was made for another service')
  const folder = await soundFolder(written?.folder ?? args.place, terminal)
  if (folder === undefined) return exitStatus.failed
  const made = written === undefined ? await makePlan(service, folder, args) : undefined
  if (made !== undefined && outcomeOf(made) === 'problem') {
    terminal.complain(planText(made))
    terminal.complain('Nothing was applied.')
    return exitStatus.failed
  }
  if (made !== undefined && !args.json) terminal.print(planText(made))
  const steps = written ?? planFileOf(made as Plan, args.place, service)
  const proposed = await propose(service, steps, folder)
  const waiting = made === undefined ? [] : await versionsOnTheirWay(service, made)
  const told = args.json ? terminal.complain : terminal.print
  const versions = await followVersions(service, [...proposed, ...waiting], {
    ...{ deploy: args.deploy, wait: args.wait, timeoutMs: args.timeoutMs },
    ...{ pollMs: run.pollMs, signal: run.signal, tell: told },
  })
  for (const { id } of steps.deprecate) told(`${id} is deprecated`)
  if (args.json)
    terminal.print(
      JSON.stringify({ versions, deprecated: steps.deprecate.map(({ id }) => id) }, undefined, 2),
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
