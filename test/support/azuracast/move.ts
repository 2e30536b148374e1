import { migrateFromAzuracastCommand } from '../../../src/commands/from-azuracast/command.ts'
import { commandRunner } from '../command.ts'
import { shared } from '../worker-process.ts'
import type { BackupFile } from './backup.ts'
import { mediaFolderOf, uniqueIdOf } from './installation.ts'

export const moveCommand = 'src/commands/from-azuracast/main.ts'
/** Runs the command that moves an installation of AzuraCast. */
export const runMove = commandRunner(moveCommand, call =>
  migrateFromAzuracastCommand(call, AbortSignal.timeout(120_000))
)

/** Of a generated installation. */
export const sizes = { stations: 3, songs: 60, plays: 300, days: 20 }

/** A picture of one pixel. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64'
)

const inFolder = (name: string) => `${mediaFolderOf(1).slice(1)}/${name}`
/** Covers of two songs, files that are none, and the audio of a song. */
export const covers: readonly BackupFile[] = [
  { path: inFolder(`.albumart/${uniqueIdOf(1)}.jpg`), content: png },
  // The MD5 of `Album 2`.
  { path: inFolder('.covers/171d8e682b8af571f656096f1b5c0320.jpg'), content: png },
  { path: inFolder('.albumart/not-an-id.jpg'), content: png },
  { path: inFolder(`.albumart/${uniqueIdOf(3)}.jpg`), content: Buffer.from('no picture') },
  { path: inFolder('Album 1/Title 1 (1).mp3'), content: Buffer.from('audio') }
]

interface Place {
  readonly databaseUrl: string
  readonly dataDir: string
}

/** The environment of the command. */
export const envOf = ({ databaseUrl, dataDir }: Place) => ({
  ...shared,
  DATABASE_URL: databaseUrl,
  DATA_DIR: dataDir
})
