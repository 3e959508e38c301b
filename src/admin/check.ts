/** `covenant check`: tries what a start tries (try-start.ts), and with `--catalogs` what is stored of catalogs. */

import { type Config, parseConfig } from '../config.ts'
import { nameCaseOf } from '../core/name-case.ts'
import { howToRename } from '../core/unusable-names.ts'
import { openConfiguredStore } from '../open-store.ts'
import { listCatalogsWithoutRoots } from '../store/catalog-credential/catalog-credentials.ts'
import { listNameCases } from '../store/catalog-credential/name-case.ts'
import { listUnusableNames } from '../store/territory/sweeps.ts'
import { vendingModeOf } from '../vending/settings.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from './exit-status.ts'
import type { Terminal } from './terminal.ts'
import { tryStart } from './try-start.ts'

const help = `Usage: covenant check [--catalogs]

Tries what a start of the service tries, and changes nothing: the settings in the environment, the license, memory,
certificates, directories, the database with its migrations and key, and addresses. Each line names the setting; what
failed is on standard error, with what to do. The embedded store is not opened. Run it as the user of the service.

  --catalogs  opens the store, too, and lists the catalogs that give out nothing, because they register no storage_roots,
              and what is known of each catalog's names: whether it keeps apart those that differ in case only, and how
              many of them this service cannot address

${exitStatusHelp}`

/** @returns the exit status */
export async function check(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(help)
    return exitStatus.done
  }
  try {
    if (words.some((word) => word !== '--catalogs')) throw new UsageError('`check` takes no words.')
    const config = parseConfig(terminal.env)
    terminal.print(
      `The settings are valid. The store is ${config.store.kind === 'postgres' ? 'PostgreSQL' : 'embedded'}.`,
    )
    const status = await reportTries(config, terminal)
    if (status !== exitStatus.done || !words.includes('--catalogs')) return status
    return await checkCatalogs(config, terminal)
  } catch (error) {
    return reportFailure(error, 'covenant check', terminal)
  }
}

/** Prints each try. @returns 78 where one failed, or 69 where all that failed is that something does not answer */
async function reportTries(config: Config, { print, complain }: Terminal): Promise<number> {
  let status: number = exitStatus.done
  for await (const { setting, outcome, text, isAway } of tryStart(config)) {
    const line = `${outcome === 'ok' ? 'ok    ' : outcome === 'note' ? 'note  ' : 'FAILED'}  ${setting}: ${text}`
    if (outcome !== 'failed') print(line)
    else {
      complain(line)
      if (!isAway) status = exitStatus.config
      else if (status === exitStatus.done) status = exitStatus.unavailable
    }
  }
  return status
}

const nameCases = {
  exact: 'keeps apart names that differ in case only',
  folded: 'folds names, so that every spelling is one table',
  unknown: 'was not asked yet whether it folds names',
} as const

/** Lists how catalogs treat names, and those from which clients get nothing. @throws Fault of the store */
async function checkCatalogs(config: Config, { print, complain }: Terminal): Promise<number> {
  const unmeasured = { cypherQuerySeconds: { observe: () => {} } }
  // The embedded store opens with its migrations only.
  const migrate = config.migrate && config.store.kind === 'embedded'
  const store = await openConfiguredStore({ ...config, migrate }, unmeasured, { warn: () => {} }, 'look')
  const [stored, named, unusable] = await Promise.all([
    listCatalogsWithoutRoots(store),
    listNameCases(store),
    listUnusableNames(store),
  ]).finally(() => store.close())
  for (const { tenant, nickname, config } of named)
    print(`The catalog ${nickname} of the tenant ${tenant} ${nameCases[nameCaseOf({ config })]}.`)
  for (const { tenant, nickname, unusable: found } of unusable)
    print(
      `The catalog ${nickname} of the tenant ${tenant} lists ${found.count} names that this service cannot address, such as ${JSON.stringify(found.names[0])}. ${howToRename}`,
    )
  const idle = stored.filter((one) => vendingModeOf(one) !== 'none')
  for (const { tenant, nickname } of idle)
    complain(
      `The catalog ${nickname} of the tenant ${tenant} registers no storage_roots: no credentials, signatures or plans are given out.`,
    )
  if (idle.length > 0) return exitStatus.failed
  print('Every catalog that gives out credentials or signatures registers its storage roots.')
  return exitStatus.done
}
