/** Lists the whole corpus. */

import { dbeaver } from './dbeaver.ts'
import { drivers } from './drivers.ts'
import { grafana } from './grafana.ts'
import { looker } from './looker.ts'
import { metabase } from './metabase.ts'
import { powerBi } from './power-bi.ts'
import { superset } from './superset.ts'
import { tableau } from './tableau.ts'

export const corpus = [
  ...tableau,
  ...powerBi,
  ...metabase,
  ...superset,
  ...looker,
  ...dbeaver,
  ...grafana,
  ...drivers,
]
