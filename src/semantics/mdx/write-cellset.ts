/** Makes the cellset of an evaluated SELECT: declared properties, display information, the slicer axis. */

import type { CellsetAxis, CellsetMember } from '../../core/cellset.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { type Cellset, cellPropertyNames, defaultCellProperties, standardProperties } from './cellset.ts'
import type { Evaluated, EvaluatedAxis } from './evaluate-select.ts'
import { memberProperty, memberPropertyNames } from './member-properties.ts'
import { isAbove, isSame } from './members.ts'
import { type Member, parentOf, type Space, type Tuple } from './space.ts'

const drilledDown = 0x1_0000
const sameParent = 0x2_0000
const childrenProperty = 'CHILDREN_CARDINALITY'

/** @throws Fault `bad_request` for a property that is not supported */
export function cellsetOf(
  { cube, hierarchies }: Space,
  { axes, slicer, cells, childCount }: Evaluated,
  cellProperties: readonly string[],
): Cellset {
  const unknown = cellProperties.find((name) => !cellPropertyNames.has(name))
  if (unknown !== undefined) refuseMdx('a property of cells is not supported')
  const axisOf = ({ tuples, properties, hierarchies: used }: EvaluatedAxis): CellsetAxis => {
    const declared = properties.filter((name) => !standardProperties.has(name))
    const other = declared.find((name) => name !== childrenProperty && !memberPropertyNames.includes(name))
    if (other !== undefined) refuseMdx('a property of members is not supported')
    return {
      hierarchies: used.map((index) => ({
        uniqueName: hierarchies[index]?.uniqueName ?? '',
        properties: declared,
      })),
      tuples: tuples.map((tuple, place) =>
        tuple.map((member, index) => ({
          ...standardOf(member, displayInfo({ tuples, place, index }, childCount)),
          properties: declared.map((name) =>
            name === childrenProperty ? childCount(member) : memberProperty(member, name),
          ),
        })),
      ),
    }
  }
  return {
    cube,
    axes: axes.map(axisOf),
    slicer: {
      hierarchies: slicer.map((member) => ({ uniqueName: member.at.uniqueName, properties: [] })),
      tuples: [slicer.map((member) => standardOf(member, Math.min(0xffff, childCount(member))))],
    },
    cellProperties: cellProperties.length > 0 ? [...new Set(cellProperties)] : defaultCellProperties,
    cells,
  }
}

function standardOf(member: Member, info: number): CellsetMember {
  return {
    hierarchy: member.at.uniqueName,
    uniqueName: member.uniqueName,
    caption: member.caption,
    levelUniqueName: member.level.uniqueName,
    levelNumber: member.level.number,
    displayInfo: info,
    properties: [],
  }
}

function displayInfo(
  {
    tuples,
    place,
    index,
  }: { readonly tuples: readonly Tuple[]; readonly place: number; readonly index: number },
  childCount: (member: Member) => number,
): number {
  const member = tuples[place]?.[index]
  if (member === undefined) return 0
  const next = tuples[place + 1]?.[index]
  const before = tuples[place - 1]?.[index]
  const [parent, other] = [parentOf(member), before && parentOf(before)]
  const isDrilled = next !== undefined && isAbove(member, next)
  const isSibling = parent !== undefined && other !== undefined && isSame(parent, other)
  return Math.min(0xffff, childCount(member)) | (isDrilled ? drilledDown : 0) | (isSibling ? sameParent : 0)
}
