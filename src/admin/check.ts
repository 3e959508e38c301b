/** `covenant check`: checks the settings and the license in the environment, and with `--catalogs` what is stored of catalogs. */

import { type Config, parseConfig } from '../config.ts'
import { nameCaseOf } from '../core/name-case.ts'
import { howToRename } from '../core/unusable-names.ts'
import { readInstalledLicense } from '../license/installed-license.ts'
import { openConfiguredStore } from '../open-store.ts'
import { listCatalogsWithoutRoots } from '../store/catalog-credential/catalog-credentials.ts'
import { listNameCases } from '../store/catalog-credential/name-case.ts'
import { listUnusableNames } from '../store/territory/sweeps.ts'
import { vendingModeOf } from '../vending/settings.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from './exit-status.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: covenant check [--catalogs]

Checks the settings in the environment, and the license that they name, as a start does. It opens no store and no port.

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
    const { license, demo, store } = config
    await readInstalledLicense(license, demo)
    terminal.print(
      `The settings are valid. The store is ${store.kind === 'postgres' ? 'PostgreSQL' : 'embedded'}.`,
    )
    return words.includes('--catalogs') ? await checkCatalogs(config, terminal) : exitStatus.done
  } catch (error) {
    return reportFailure(error, 'covenant check', terminal)
  }
}

const nameCases = {
  exact: 'keeps apart names that differ in case only',
  folded: 'folds names, so that every spelling is one table',
  unknown: 'was not asked yet whether it folds names',
} as const

/** Lists how catalogs treat names, and those from which clients get nothing. @throws Fault of the store */
async function checkCatalogs(config: Config, { print, complain }: Terminal): Promise<number> {
  const unmeasured = { cypherQuerySeconds: { observe: () => {} } }
  const store = await openConfiguredStore(config, unmeasured, { warn: () => {} })
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
