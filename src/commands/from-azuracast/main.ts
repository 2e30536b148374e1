import { abortOnInterrupt } from '../../platform/process/abort-on-interrupt.ts'
import { processContext } from '../../platform/process/command-context.ts'
import { migrateCommand } from './command.ts'

process.exitCode = await migrateCommand(processContext, abortOnInterrupt())
