"""Guards of the looks at what is due; see table.py."""
from mutant import PG, integration

DUE = [
    integration("due-all", "What became due long ago is looked for, too", "PostgresClaim.WhatBecameDueLongAgoIsFoundWhileLooksAreBounded",
                (PG + "postgres_claim.cpp", "&& now < due.next()) {", "&& due.next() > due.last - kLongestDueLook * 10000) {")),
    integration("due-age", "A claim that is full of what is due says how far it has come", "PostgresClaim.WhatIsDueIsTakenInPartsWithoutALookAtEverything",
                (PG + "postgres_claim.cpp", "taken->view.looked_up_to ? start : start - *taken->due_age;", "start;")),
    integration("due-after-reconnect", "All that is due is looked at after a reconnect", "PostgresClaim.AllThatIsDueIsLookedAtAfterAReconnect",
                (PG + "postgres_claim.cpp", "    due.not_before = {};\n    due.again = true;\n", "    due.again = false;\n")),
    integration("due-by-one", "A thread does not look at all that is due while another one does", "PostgresRescan.OneThreadLooksAtAllThatIsDueAndTheOthersGoOn",
                (PG + "postgres_claim.cpp", "  due.left_to_another = now + kLongestDueLook;\n", "")),
    integration("due-by-one-after-reconnect", "Nor does it when a connection was opened meanwhile", "PostgresRescan.OneThreadLooksAtAllThatIsDueWhileOthersReconnect",
                (PG + "postgres_claim.cpp", "    due.not_before = {};\n    due.again = true;\n", "    due.left_to_another = due.not_before = {};\n    due.again = true;\n")),
    integration("due-again", "It is looked at again when a connection was opened meanwhile", "PostgresRescan.OneThreadLooksAtAllThatIsDueWhileOthersReconnect",
                (PG + "postgres_claim.cpp", "if (within != kEver || due.again) return;", "if (within != kEver) return;")),
    integration("due-by-the-next", "A look at all that is due that failed is made by the next claim",
                "PostgresRescan.AfterALookAtAllThatIsDueHasFailedTheNextOneMakesIt",
                (PG + "postgres_claim.cpp", "  if (within == kEver) due.left_to_another = due.not_before = {};\n", "")),
    integration("due-commits-later", "After a dear look, what was committed late is looked for further back",
                "PostgresRescan.AfterADearLookWhatWasCommittedLateIsLookedForFurtherBack",
                (PG + "postgres_claim.cpp", " + kCommitsLater * due.cost;", ";")),
]
