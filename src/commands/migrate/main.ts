import { processContext } from '../../platform/process/command-context.ts'
import { migrateCommand } from './migrate-command.ts'

process.exitCode = await migrateCommand(processContext)
