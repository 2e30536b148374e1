import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { openDumpSource } from '../../src/commands/from-azuracast/dump-source.ts'
import { openMariadbSource } from '../../src/commands/from-azuracast/mariadb-source.ts'
import type { AzuracastSource } from '../../src/commands/from-azuracast/source.ts'
import { writeBackup } from '../support/azuracast/backup.ts'
import { renderDump } from '../support/azuracast/dump.ts'
import { generateInstallation } from '../support/azuracast/installation.ts'
import { startMariadb } from '../support/azuracast/mariadb.ts'
import { processRunner } from '../support/command.ts'
import { test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { isDeep } from '../support/tier.ts'
import { shared } from '../support/worker-process.ts'

const sizes = { stations: 5, songs: 500, plays: 60_000, days: 30 }
const odd = 'Ünï\u0000cödé 🎧 \u001A \\ \' " % _ \r\n\t'

async function readAll(source: AzuracastSource) {
  const tables: Record<string, unknown> = {}
  for (const { name, columns } of source.tables.values()) {
    const rows = []
    for await (const batch of source.rows(name)) rows.push(...batch)
    tables[name] = { columns, rows }
  }
  return tables
}

test.skipIf(!isDeep || whyWithout('mariadb') !== null)(
  'a real MariaDB, its real dump and the generated one have the same rows, and are taken over alike',
  async ({ databaseUrl, sql }) => {
    await using mariadb = await startMariadb()
    const installation = generateInstallation(sizes)
    const stations = [...(installation['station'] ?? [])].map(station => ({ ...station, genre: odd }))
    const generated = [...renderDump({ ...installation, station: stations })]
    await mariadb.load(generated)
    const folder = await scratchFolder()
    const signal = AbortSignal.timeout(600_000)
    await writeFile(join(folder, 'real.sql'), await mariadb.dump())
    await writeFile(join(folder, 'generated.sql'), generated.join(''))
    const real = await readAll(
      await openDumpSource(join(folder, 'real.sql'), { description: 'real', signal })
    )
    const own = await readAll(
      await openDumpSource(join(folder, 'generated.sql'), { description: 'generated', signal })
    )
    expect(real['station']).toMatchObject({ rows: expect.arrayContaining([expect.arrayContaining([odd])]) })
    for (const [name, rows] of Object.entries(real)) expect([name, own[name]]).toEqual([name, rows])
    {
      await using opened = await openMariadbSource(mariadb.url, signal)
      expect(await readAll(opened.source)).toEqual(real)
    }

    const run = processRunner('src/commands/from-azuracast/main.ts')
    const env = { ...shared, DATABASE_URL: databaseUrl, DATA_DIR: folder }
    const taken = await run(env, '--mariadb', mariadb.url)
    expect(taken).toMatchObject({ code: 0, stdout: expect.stringContaining('60000 plays\n') })
    const backup = join(folder, 'backup.tzst')
    await writeBackup(backup, [await mariadb.dump()])
    const again = await run(env, backup)
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing was new.') })
    const [counts] = await sql`select count(*) as plays from song_history`
    expect(counts).toEqual({ plays: sizes.plays })
  }
)
