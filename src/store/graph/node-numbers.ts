/** The numbers of a label's rows, in SQL: the top 16 bits of a graphid are the label, the rest numbers its rows. */

const rowBits = 2 ** 48 - 1

/** The number of a row, as an int8. @param id an expression of a graphid or of its int8 */
export const rowNumber = (id: string) => `(${id}::text::int8 & ${rowBits})`

/** The graphid of a row of a label. @param number an expression of an int8 */
export const rowAt = (label: 'Job' | 'Dataset', number: string) =>
  `(select _graphid(l.id, ${number}) from ag_label l where l.relation = '"${label}"'::regclass)`
