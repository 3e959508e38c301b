/**
 * `covenant contract sign`: shows what each version changes, who has read its tables and what it still waits for, asks,
 * and signs exactly the documents that it showed. It decides nothing: the service says who may sign what.
 */

import { createHash } from 'node:crypto'
import { Fault } from '../../base/fault.ts'
import { readDocument } from '../../wire/odcs/read-document.ts'
import {
  type ContractService,
  isNotFound,
  openContractService,
  type SignedVersion,
} from '../contracts/contract-service.ts'
import { differencesOf } from '../contracts/document-difference.ts'
import { shortValue } from '../contracts/make-plan.ts'
import { changeLines, needs } from '../contracts/print-plan.ts'
import { UsageError } from '../exit-status.ts'
import { serviceAddress } from '../service-address.ts'
import type { Terminal } from '../terminal.ts'
import { cellText, shownText } from '../text-table.ts'
import type { ReadWords } from './named-verb.ts'

/** Shows, asks and signs, version by version. @throws UsageError, and Fault as the service refuses */
export async function signVersions(read: ReadWords, terminal: Terminal): Promise<void> {
  const versions = read.rest.map(versionNamed)
  const isAgreed = read.flags.has('yes')
  if (!isAgreed && (terminal.ask === undefined || read.json))
    throw new UsageError('There is no terminal to ask on: read the version first, then give --yes')
  const address = await serviceAddress(read, terminal.env)
  if (address === undefined) throw new UsageError('Name the service with --url or COVENANT_URL')
  const service = openContractService(address, terminal.interrupted?.() ?? new AbortController().signal)
  const comment = read.flags.get('comment')
  const signed: SignedVersion[] = []
  for (const { id, number } of versions) {
    const version = await service.version(id, number)
    if (version.state !== 'proposed')
      throw new Fault('conflict', `Version ${number} is ${version.state}; only a proposed version is signed.`)
    const text = await versionText(service, version)
    if (!read.json) terminal.print(text)
    if (!isAgreed && !/^y(?:es)?$/i.test((await terminal.ask?.('Sign it? [y/N] ')) ?? '')) {
      terminal.print('Not signed.')
      continue
    }
    // The hash is of the document that was shown: the service refuses it where there is another by now.
    const { sha256 } = version
    const after = await service.sign(id, number, { sha256, ...(comment !== undefined && { comment }) })
    signed.push(after)
    if (!read.json)
      terminal.print(
        after.waits_for.length === 0
          ? `Signed. Version ${after.version} is ${after.state}.`
          : `Signed. It still ${needs(after.waits_for)}.`,
      )
  }
  if (read.json) terminal.print(JSON.stringify({ versions: signed }, undefined, 2))
}

function versionNamed(word: string): { readonly id: string; readonly number: number } {
  const [, id, number] = /^(.+)@([1-9]\d{0,8})$/s.exec(word) ?? []
  if (id === undefined) throw new UsageError('A version is written ID@NUMBER, such as orders@4')
  return { id, number: Number(number) }
}

/** What signing the version means, in words. @throws Fault where its document is not that of its hash */
async function versionText(service: ContractService, version: SignedVersion): Promise<string> {
  const { id, number, sha256, verdict, read_by: readers, sign_offs: signatures, waits_for: waits } = version
  const { bytes, format } = await service.versionDocument(id, number)
  if (createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw new Fault(
      'conflict',
      'The document of this version is not the one of its hash; nothing was signed.',
    )
  const inForce = await service.document(id).catch((thrown: unknown) => {
    if (isNotFound(thrown)) return undefined
    throw thrown
  })
  const values =
    inForce === undefined
      ? undefined
      : differencesOf(readDocument(inForce.bytes, inForce.format).value, readDocument(bytes, format).value)
  const findings = verdict?.findings ?? []
  const changes = (heading: string, which: (access: string) => boolean) => {
    const found = findings.filter(({ access }) => which(access))
    return found.length === 0 ? [] : [heading, ...changeLines(found)]
  }
  const reader = ({ sub, queries, last_read_at }: NonNullable<typeof readers>[number]) =>
    `  ${cellText(sub)}, ${queries} queries, the last at ${cellText(last_read_at)}`
  return [
    `${shownText(id)} version ${number} (${shownText(version.version)}) by ${shownText(version.author)}`,
    ...changes('Loosens access: somebody sees more.', (access) => access === 'loosened'),
    ...changes('Tightens access: somebody sees less.', (access) => access === 'tightened'),
    ...changes('Changes otherwise:', (access) => access === 'none'),
    ...(findings.length === 0 ? ['No change that a reader or writer notices.'] : []),
    ...(verdict?.breaking ? ['It breaks the version in force.'] : []),
    ...(readers === undefined || readers.length === 0
      ? []
      : ['Its tables were read of late by:', ...readers.map(reader)]),
    ...(version.warnings ?? []).map((text) => `Warning: ${shownText(text)}`),
    ...(values === undefined
      ? ['No version is in force.']
      : values.length === 0
        ? []
        : ['In the document:', ...values.map((one) => `  ${shownText(valueLine(one))}`)]),
    ...signatures.map(({ level, by, at }) => `Signed (${level}) by ${cellText(by)} at ${cellText(at)}.`),
    `It ${needs(waits)}. Document: ${sha256}`,
  ].join('\n')
}

function valueLine({ path, before, after }: ReturnType<typeof differencesOf>[number]): string {
  if (after === undefined) return `- ${path}: ${shortValue(before)}`
  if (before === undefined) return `+ ${path}: ${shortValue(after)}`
  return `~ ${path}: ${shortValue(before)} → ${shortValue(after)}`
}
