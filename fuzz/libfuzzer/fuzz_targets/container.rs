#![no_main]

stablo_libfuzzer::target!(stablo_fuzz::Kind::Container);
