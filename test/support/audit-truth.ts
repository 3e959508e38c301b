/** Checks what must hold after every crash: the audit log says once what the upstream did. */

import { expect } from 'bun:test'
import type { CrashReport } from './crash-report.ts'

/** @param accepted metadata files that the upstream made */
export function expectAuditTrue(report: CrashReport, accepted: readonly string[]): void {
  expect(report.undecided).toBe(0)
  expect(report.approved.toSorted()).toEqual(accepted.toSorted())
  expect(report.edges.ACTUAL_WRITE.toSorted()).toEqual(report.approvedCommits.toSorted())
  expect(report.edges.INTENDED_WRITE.toSorted()).toEqual(
    [...report.approvedCommits, ...report.rejectedCommits].toSorted(),
  )
}
