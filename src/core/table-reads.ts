/** What readers of a table or column saw of it, as usage records say it. */

/**
 * - `whole`: no filter and no mask was applied
 * - `filtered`: a row filter was applied, and no mask
 * - `masked`: a mask was applied
 * - `told`: a trusted engine was told to apply filters or masks
 */
export const sawOfTable = ['whole', 'filtered', 'masked', 'told'] as const
export type SawOfTable = (typeof sawOfTable)[number]
