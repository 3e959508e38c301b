/** What the contract verbs do about the files of settings in their folder. */

import type { ServiceAddress } from '../service-address.ts'
import type { Terminal } from '../terminal.ts'
import { type DesiredFolder, readDesiredFolder, type SettingProblem } from './desired-files.ts'
import { planSettings, type SettingsPlan } from './desired-plan.ts'
import { openSettingsService } from './settings-service.ts'

/** The problem in one line, as compilers write them. */
export function describeSettingProblem({ file, line, column, message }: SettingProblem): string {
  const place = line === undefined ? '' : `:${line}:${column}`
  return `${file}${place}: error: ${message}.`
}

/** The files of a folder, where nothing in them is wrong; else their errors are told, and there is none. */
export async function soundSettings(
  folder: string,
  { complain }: Pick<Terminal, 'complain'>,
): Promise<DesiredFolder | undefined> {
  const read = await readDesiredFolder(folder)
  for (const problem of read.problems) complain(describeSettingProblem(problem))
  return read.problems.length > 0 ? undefined : read
}

/** The plan of the files; undefined where there is none. @throws Fault of the service */
export async function planOfSettings(
  address: ServiceAddress,
  folder: DesiredFolder,
  {
    env,
    signal,
    prune,
  }: { readonly env: Terminal['env']; readonly signal: AbortSignal; readonly prune: boolean },
): Promise<SettingsPlan | undefined> {
  if (folder.files.length === 0) return undefined
  return await planSettings(openSettingsService(address, signal), folder, { env, prune })
}
