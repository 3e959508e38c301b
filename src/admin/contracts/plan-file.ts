/** Writes a plan to a file, and reads it again to be applied: hashes and revisions, no documents. */

import { rename } from 'node:fs/promises'
import { UsageError } from '../exit-status.ts'
import type { ContractFolder } from './contract-files.ts'
import type { Proposals } from './contract-service.ts'
import type { Plan } from './make-plan.ts'

/** What is to be applied, and to what. */
export interface PlanFile {
  /** 2 with settings, which earlier versions of the command line would pass over. */
  readonly format: 1 | 2
  readonly service: string
  readonly folder: string
  readonly managed_by: string
  readonly propose: readonly {
    readonly id: string
    readonly file: string
    readonly sha256: string
    readonly revision?: string
  }[]
  readonly deprecate: readonly { readonly id: string; readonly revision?: string }[]
  /** What the files of settings would change, by a digest, and whether what is not in them is removed. */
  readonly settings?: { readonly digest: string; readonly prune: boolean } | undefined
}

/** The steps of a plan. */
export function planFileOf(
  plan: Plan,
  folder: string,
  service: string,
  settings: PlanFile['settings'],
): PlanFile {
  const revisionOf = ({ revision }: { readonly revision?: string }) => ({
    ...(revision !== undefined && { revision }),
  })
  const wanted = plan.contracts.filter(({ action }) => action === 'add' || action === 'change')
  return {
    format: settings === undefined ? 1 : 2,
    service,
    folder,
    managed_by: plan.managedBy,
    propose: wanted.flatMap(({ id, file, ...rest }) =>
      file === undefined ? [] : [{ id, file: file.file, sha256: file.sha256, ...revisionOf(rest) }],
    ),
    deprecate: plan.contracts
      .filter(({ action }) => action === 'deprecate')
      .map(({ id, ...rest }) => ({ id, ...revisionOf(rest) })),
    ...(settings && { settings }),
  }
}

/** Writes a file whole: a reader sees the earlier text or this one. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const partial = `${path}.${crypto.randomUUID().slice(0, 8)}.part`
  await Bun.write(partial, content)
  await rename(partial, path)
}

/** Reads a plan. @throws UsageError where the file is none */
export async function readPlanFile(path: string): Promise<PlanFile> {
  const none = () => new UsageError('The file is no plan; write one with `covenant plan --out FILE`')
  let read: unknown
  try {
    read = await Bun.file(path).json()
  } catch {
    throw none()
  }
  const { format, service, folder, managed_by, propose, deprecate, settings } = (read ??
    {}) as Partial<PlanFile>
  const isText = (value: unknown) => typeof value === 'string'
  const isStep = (one: unknown, names: readonly string[]) =>
    typeof one === 'object' &&
    one !== null &&
    names.every((name) => isText((one as Record<string, unknown>)[name]))
  const whole =
    (settings === undefined ? format === 1 : format === 2 && isText(settings?.digest)) &&
    [service, folder, managed_by].every(isText) &&
    Array.isArray(propose) &&
    propose.every((one) => isStep(one, ['id', 'file', 'sha256'])) &&
    Array.isArray(deprecate) &&
    deprecate.every((one) => isStep(one, ['id']))
  if (!whole) throw none()
  return read as PlanFile
}

/**
 * The request that a plan's steps make.
 * @throws Error where a document is another than the plan was made for
 */
export function proposalsOf(plan: PlanFile, { files }: ContractFolder): Proposals {
  return {
    managed_by: plan.managed_by,
    documents: plan.propose.map(({ id, file, sha256, revision }) => {
      const found = files.find((one) => one.id === id)
      if (found?.sha256 !== sha256)
        throw new Error(`${file} has changed since the plan was made. Plan again.`)
      // With its byte order mark, if it has one, so that the service gets the same bytes.
      const document = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(found.bytes)
      return { id, revision, format: found.format, document, sha256 }
    }),
    deprecate: plan.deprecate.map(({ id, revision }) => ({
      ...{ id, revision, reason: `Gone from ${plan.managed_by}` },
    })),
  }
}
