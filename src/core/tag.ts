/** How a tag came to a table or column, and on what evidence (docs/contracts.md). */

/** `document`: a contract document said so. `import`: another catalog or tool did. */
export const tagSources = ['person', 'classifier', 'document', 'import'] as const
export type TagSource = (typeof tagSources)[number]

/** `confirmed`: a person confirmed what the classifier had set. */
export const tagActions = ['set', 'confirmed', 'removed'] as const
export type TagAction = (typeof tagActions)[number]

/** What a tag rests on, besides who set it. */
export interface TagEvidence {
  /** Id of a finding of detection. */
  readonly finding?: string | undefined
  /** Contract with the number of its version. */
  readonly contract?: string | undefined
  readonly contractVersion?: number | undefined
  /** Of the property in that version, which gives the tag by the tenant's settings. */
  readonly classification?: string | undefined
  readonly note?: string | undefined
}
