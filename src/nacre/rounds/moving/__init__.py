"""Import and export of batch crawls: files of Nutch, and stores of the continuous crawler.

`hadoop` reads the containers of Hadoop, `nutch` the values of Nutch in them. No module needs Java.
"""
