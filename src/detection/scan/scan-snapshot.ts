/** Scans one snapshot: samples the files that it added, classifies the samples, and reports what was covered. */

import { type ActiveClassifier, classifierLimits } from '../../core/classifier.ts'
import type { LiveFiles, ScanReport } from '../../core/detection.ts'
import type { ProtectedForm } from '../../core/protected-form.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { Territory } from '../../core/territory.ts'
import { limits } from '../../limits.ts'
import { fileName, ReadFailure, toReadFailure } from '../../storage/read-failure.ts'
import { openStorage, type StorageAccess } from '../../storage/storage.ts'
import { guardedStorage, type OutsideFile, territoryGuard } from '../../storage/territory-guard.ts'
import type { ColumnFinding, JudgedColumn } from '../../store/detection/results.ts'
import { StepBudget } from '../classify/compile-classifier.ts'
import { classifyByCustoms, classifySamples, placeClassifier } from './classify-samples.ts'
import { ColumnSamples } from './column-samples.ts'
import { findUnprotected } from './find-unprotected.ts'
import { judgeColumns } from './judge-columns.ts'
import { liveFiles, mayRemoveAny } from './live-files.ts'
import { addedFiles, type DataFile, readTable, spread } from './manifests.ts'
import { scanAvroFile } from './scan-avro.ts'
import { scanFile } from './scan-file.ts'

/** Plain data, because it is sent to the worker. */
export interface ScanTask {
  readonly metadataLocation: string
  readonly access: StorageAccess
  /** Where the table's files may lie. Undefined where the table or its territory is not known. */
  readonly territory?: Territory | undefined
  /** Whether this is the last attempt: then a file that storage does not return fails alone. */
  readonly isLast?: boolean
  /** Whether the current snapshot is scanned, instead of those that the metadata file added. */
  readonly isRescan?: boolean
  /** What values of the table's protected columns look like. */
  readonly forms?: readonly ProtectedForm[]
  /** The tenant's classifiers that count. */
  readonly classifiers?: readonly ActiveClassifier[]
  /** Whose allow-lists hold. Undefined where the table is not known. */
  readonly table?: TableRef | undefined
}

export interface ScanResult {
  readonly findings: readonly ColumnFinding[]
  /** Columns of which values were seen, with what speaks against a class. */
  readonly judged?: readonly JudgedColumn[]
  /** What the table still holds. Absent where nothing may have been removed, or it cannot be found out. */
  readonly live?: LiveFiles | undefined
  readonly report: ScanReport
  /** Files that the snapshot names outside the table's territory. */
  readonly outside?: readonly OutsideFile[]
  /** '' when every supported file was scanned, else why one was not. */
  readonly reason: string
}

const problemsMax = 20
/** How the data files of each format are sampled. ORC has no reader here. */
const scanners: Readonly<Record<string, typeof scanFile>> = { PARQUET: scanFile, AVRO: scanAvroFile }

/**
 * Scans the snapshots that a metadata file added. A file that cannot be read fails the scan at its end, but the
 * findings of the other files are kept.
 * @throws ReadFailure when nothing could be read, or when storage failed and may recover
 */
export async function scanSnapshot({
  metadataLocation,
  access,
  territory,
  isLast = false,
  isRescan = false,
  forms = [],
  classifiers = [],
  table: named,
}: ScanTask): Promise<ScanResult> {
  const guard = territoryGuard(territory)
  const storage = guardedStorage(openStorage(access), guard)
  try {
    const table = await readTable(storage, metadataLocation, isRescan)
    const listed: DataFile[] = []
    let filesAdded = 0
    for (const snapshot of table.snapshots) {
      const { files, count } = await addedFiles(storage, snapshot, limits.detectionFilesMax)
      listed.push(...files)
      filesAdded += count
    }
    const files = spread(listed, limits.detectionFilesMax)
    const samples = new ColumnSamples(limits.detectionValuesMax)
    // As in scan-file.ts: booleans hold no class.
    for (const { name, fieldId, type } of table.columns) if (type !== 'boolean') samples.add(name, fieldId)

    const metadataBytes = storage.bytesRead
    const problems: { file: string; reason: string }[] = []
    const counts = { scanned: 0, unsupported: 0, failed: 0 }
    let firstFailure = ''
    const problem = (file: DataFile, reason: string) => {
      if (problems.length < problemsMax) problems.push({ file: fileName(file.path), reason })
    }
    const share = {
      valuesMax: Math.ceil(limits.detectionValuesMax / Math.max(files.length, 1)),
      bytesMax: Math.floor(limits.detectionBytesMax / Math.max(files.length, 1)),
    }
    for (const file of files) {
      if (storage.bytesRead - metadataBytes >= limits.detectionBytesMax) break
      const scanIt = scanners[file.format]
      if (scanIt === undefined) {
        counts.unsupported++
        problem(
          file,
          `${/^[A-Z0-9_]{1,20}$/.test(file.format) ? file.format : 'unknown'} data files are not supported`,
        )
        continue
      }
      if (file.isEncrypted) {
        counts.unsupported++
        problem(file, 'the data file is encrypted, and its key is not known')
        continue
      }
      try {
        await scanIt(await storage.open(file.path), table.columns, samples, share)
        counts.scanned++
      } catch (thrown) {
        const failure = toReadFailure(thrown, 'a data file')
        if (failure.passing && !isLast) throw failure
        if (counts.failed++ === 0) firstFailure = `${fileName(file.path)}: ${failure.reason}`
        problem(file, failure.reason)
      }
    }
    const custom = classifyByCustoms(samples, classifiers, named, classifierLimits.scanStepsMax)
    const unprotected = findUnprotected(samples.all(), forms)
    const findings = [...classifySamples(samples), ...custom.findings, ...unprotected]
    const removes = isRescan || (await mayRemoveAny(storage, table))
    const placed = classifiers.map((one) => placeClassifier(one, named))
    const budget = new StepBudget(classifierLimits.scanStepsMax)
    return {
      judged: judgeColumns(samples, placed, {
        ...{ budget, customsJudged: custom.unjudged === 0, forTraces: removes },
      }),
      live: removes ? await liveFiles(storage, table.metadata) : undefined,
      findings: surest(findings, limits.detectionFindingsMax),
      outside: guard.outside,
      reason:
        counts.failed === 0
          ? ''
          : `${counts.failed} data file(s) could not be scanned; first ${firstFailure}`,
      report: {
        snapshotIds: table.snapshots.map((snapshot) => String(snapshot.get('snapshot-id'))),
        tableUuid: table.tableUuid,
        filesAdded,
        filesScanned: counts.scanned,
        filesLeftOut: filesAdded - counts.scanned - counts.unsupported - counts.failed,
        filesUnsupported: counts.unsupported,
        filesFailed: counts.failed,
        bytesRead: storage.bytesRead,
        valuesSampled: samples.valueCount,
        columns: table.columns.length,
        ...(custom.unjudged > 0 && { unjudged: custom.unjudged }),
        findingsLeftOut: Math.max(findings.length - limits.detectionFindingsMax, 0),
        problems,
      },
    }
  } catch (thrown) {
    throw thrown instanceof ReadFailure ? thrown : toReadFailure(thrown, 'the snapshot')
  } finally {
    await storage.close()
  }
}

function surest(findings: readonly ColumnFinding[], count: number): readonly ColumnFinding[] {
  if (findings.length <= count) return findings
  return findings.toSorted((a, b) => b.finding.confidence - a.finding.confidence).slice(0, count)
}
