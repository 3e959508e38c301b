/** Lists the whole corpus. */

import { dbeaver } from './dbeaver.ts'
import { drivers } from './drivers.ts'
import { firstDay } from './first-day.ts'
import { grafana } from './grafana.ts'
import { looker } from './looker.ts'
import { lookerDistinct } from './looker-distinct.ts'
import { metabase } from './metabase.ts'
import { notebooks } from './notebooks.ts'
import { orms } from './orms.ts'
import { pipelines } from './pipelines.ts'
import { powerBi } from './power-bi.ts'
import { reporting } from './reporting.ts'
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
  ...lookerDistinct,
  ...reporting,
  ...notebooks,
  ...orms,
  ...pipelines,
  ...firstDay,
]
