import { abortOnInterrupt } from '../../platform/process/abort-on-interrupt.ts'
import { processContext } from '../../platform/process/command-context.ts'
import { migrateFromAzuracastCommand } from './command.ts'

process.exitCode = await migrateFromAzuracastCommand(processContext, abortOnInterrupt())
